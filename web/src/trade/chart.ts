// The chart, behind an adapter: the page knows no more of the library than this file.

import {
  dispose, init, registerOverlay,
  type Chart as Library, type DataLoaderGetBarsParams, type KLineData, type OverlayCreate, type Period, type Point,
} from 'klinecharts';
import type { OpenOrder } from '../../client/orders';
import { keepList, recall } from '../app/keep';
import { web } from '../app/session.svelte';
import { height } from '../feed/pixels';
import type { CandleRow } from '../feed/protocol';
import { colour, stylesOf } from './chart-styles';
import { leftOf } from './left';

/** RESOLUTIONS are the intervals, by the exchange's words. */
export const RESOLUTIONS: { word: string; period: Period }[] = [
  { word: '1', period: { type: 'minute', span: 1 } },
  { word: '5', period: { type: 'minute', span: 5 } },
  { word: '15', period: { type: 'minute', span: 15 } },
  { word: '30', period: { type: 'minute', span: 30 } },
  { word: '60', period: { type: 'hour', span: 1 } },
  { word: '240', period: { type: 'hour', span: 4 } },
  { word: '1D', period: { type: 'day', span: 1 } },
  { word: '1W', period: { type: 'week', span: 1 } },
  { word: '1M', period: { type: 'month', span: 1 } },
];

/** OVER are the indicators that are drawn over the candles; others have a pane of their own. */
const OVER = ['MA', 'EMA', 'BOLL', 'SAR'];

/** FIRST are the indicators that come with the chart; others, and drawings, come with templates.ts. */
const FIRST = ['MA', 'VOL'];

/** PARAMETERS replace the library's own. */
const PARAMETERS: Record<string, number[]> = { MA: [7, 25, 99], EMA: [12, 26], VOL: [] };

export const DRAWINGS = [
  'segment', 'rayLine', 'horizontalStraightLine', 'verticalStraightLine', 'parallelStraightLine', 'priceChannelLine', 'fibonacciLine',
] as const;

/** PAGE is the number of candles of a request. */
const PAGE = 500;

/** Groups of overlays. */
const DRAWN = 'drawn';
const ORDERS = 'orders';
const FILLS = 'fills';

/** Drawing is a drawing as it is kept: its points are a time in ms and a height. */
interface Drawing {
  name: string;
  points: Partial<Point>[];
}

/** Line is an own order on the chart, with a label before its amount. */
export interface Line {
  order: OpenOrder;
  label: string;
}

/** Mark is an own fill on the chart. */
export interface Mark {
  key: string;
  time: number;
  price: string;
  side: 'BUY' | 'SELL';
}

export interface ChartOptions {
  pair: string;
  pricePrecision: number;
  volumePrecision: number;
  resolution: string;
  indicators: readonly string[];
  /** onLoaded tells the newest candles after each page, or that there was none. */
  onLoaded: (newest: CandleRow[] | null) => void;
  /** onDrag is told the height to which an own order was dragged, as a text with the market's decimals. */
  onDrag: (obid: number, price: string) => void;
}

type CandleTuple = [time: number, open: string, high: string, low: string, close: string, volume: string];

/** fetchCandles asks for candles, oldest first: the newest, or those before a time in seconds. */
export async function fetchCandles(pair: string, res: string, before: number | null): Promise<CandleRow[]> {
  const answer = await web.get<{ candles: CandleTuple[] }>('/candles', {
    pair, res, limit: String(PAGE), ...(before !== null && { before: String(before) }),
  });
  return answer.candles.map(([time, open, high, low, close, volume]) => ({ time, open, high, low, close, volume }));
}

/** Chart draws candles in an element. */
export class Chart {
  readonly #library: Library;
  readonly #element: HTMLElement;
  readonly #options: ChartOptions;
  readonly #observer: ResizeObserver;
  #update: ((data: KLineData) => void) | null = null;
  #resolution: string;
  /** wanted are the indicators that are shown, or will be once their code has come. */
  readonly #wanted = new Set<string>();
  /** kept are the drawings of this chart as they are stored. Another tab's may be stored beside them. */
  #kept: Drawing[] = [];

  constructor(element: HTMLElement, options: ChartOptions) {
    const library = init(element, {
      styles: stylesOf(element), timezone: zone(), hotkey: { enabled: false },
      thousandsSeparator: { sign: '\u202f' }, decimalFold: { threshold: 100 },
    });
    if (library === null) throw new Error('no chart');
    element.querySelector('[tabindex]')?.setAttribute('tabindex', '-1'); // a picture takes no focus
    this.#library = library;
    this.#element = element;
    this.#options = options;
    this.#resolution = options.resolution;

    library.setDataLoader({
      getBars: (asked) => this.#load(asked),
      subscribeBar: ({ callback }) => (this.#update = callback),
      unsubscribeBar: () => (this.#update = null),
    });
    library.setSymbol({ ticker: options.pair, pricePrecision: options.pricePrecision, volumePrecision: options.volumePrecision });
    library.setPeriod(periodOf(options.resolution));
    this.#observer = new ResizeObserver(() => library.resize());
    this.#observer.observe(element);
    void this.#restore(options.indicators);
  }

  setResolution(word: string): void {
    if (word === this.#resolution) return;
    this.#resolution = word;
    this.#library.setPeriod(periodOf(word));
  }

  /** push shows candles of the feed, the present one or the next. */
  push(rows: readonly CandleRow[]): void {
    for (const row of rows) this.#update?.(barOf(row));
  }

  /** reload loads all candles anew, after a time without the feed. */
  reload(): void {
    this.#library.resetData();
  }

  /** add shows an indicator once its code has come. */
  async add(name: string): Promise<void> {
    this.#wanted.add(name);
    if (!FIRST.includes(name)) await import('./templates');
    if (!this.#wanted.has(name)) return; // it was removed, or the chart was

    const calcParams = PARAMETERS[name];
    const indicator = { name, id: name, ...(calcParams && { calcParams }) };
    if (OVER.includes(name)) this.#library.createIndicator({ ...indicator, paneId: 'candle_pane' }, true);
    else this.#library.createIndicator(indicator);
  }

  remove(name: string): void {
    this.#wanted.delete(name);
    this.#library.removeIndicator({ name });
  }

  /** restyle takes the colours of a changed theme. */
  restyle(): void {
    this.#library.setStyles(stylesOf(this.#element));
  }

  /** draw begins a drawing, which the pointer ends, once its code has come. */
  async draw(name: string): Promise<void> {
    await import('./templates');
    this.#library.createOverlay(this.#drawing({ name, points: [] }));
  }

  clearDrawings(): void {
    this.#library.removeOverlay({ groupId: DRAWN });
    this.#keep();
  }

  /** showOrders draws own orders as lines that can be dragged to another price. */
  showOrders(lines: readonly Line[]): void {
    this.#library.removeOverlay({ groupId: ORDERS });
    for (const { order, label } of lines) {
      this.#library.createOverlay({
        name: 'ownOrder', groupId: ORDERS, points: [{ value: height(order.price ?? '') }],
        extendData: {
          text: `${label} ${leftOf(order, this.#options.volumePrecision)}`,
          colour: colour(this.#element, order.side === 'BUY' ? '--up' : '--down'), behind: colour(this.#element, '--panel'),
        },
        onPressedMoveEnd: ({ overlay }) => {
          const value = overlay.points[0]?.value;
          if (value !== undefined && value > 0) this.#options.onDrag(order.obid, value.toFixed(this.#options.pricePrecision));
        },
      });
    }
  }

  showFills(marks: readonly Mark[]): void {
    this.#library.removeOverlay({ groupId: FILLS });
    for (const mark of marks) {
      this.#library.createOverlay({
        name: 'ownFill', groupId: FILLS, lock: true, points: [{ timestamp: mark.time * 1000, value: height(mark.price) }],
        extendData: { buy: mark.side === 'BUY', colour: colour(this.#element, mark.side === 'BUY' ? '--up' : '--down') },
      });
    }
  }

  destroy(): void {
    this.#wanted.clear();
    this.#observer.disconnect();
    dispose(this.#element);
  }

  async #load({ type, timestamp, callback }: DataLoaderGetBarsParams): Promise<void> {
    if (type === 'backward') {
      callback([], false);
      return;
    }
    const before = type === 'init' || timestamp === null ? null : timestamp / 1000;
    try {
      const rows = await fetchCandles(this.#options.pair, this.#resolution, before);
      callback(rows.map(barOf), { forward: rows.length === PAGE, backward: false });
      if (type === 'init') this.#options.onLoaded(rows.slice(-50));
    } catch {
      callback([], false);
      if (type === 'init') this.#options.onLoaded(null);
    }
  }

  #drawing({ name, points }: Drawing): OverlayCreate {
    const keepAll = (): void => this.#keep();
    return { name, points, groupId: DRAWN, onDrawEnd: keepAll, onPressedMoveEnd: keepAll, onRemoved: keepAll };
  }

  /** restore shows indicators in their order, and the drawings that this browser keeps. */
  async #restore(indicators: readonly string[]): Promise<void> {
    try {
      for (const name of indicators) await this.add(name);
      const all = recall<Drawing[]>('localStorage', `drawings.${this.#options.pair}`, []);
      if (!Array.isArray(all) || all.length === 0) return;
      await import('./templates');
      this.#draw(all);
    } catch {
      return; // the candles are there without them, and the next page asks again
    }
  }

  #draw(all: readonly Drawing[]): void {
    for (const { name, points } of all) {
      if ((DRAWINGS as readonly string[]).includes(name) && Array.isArray(points)) {
        this.#library.createOverlay(this.#drawing({ name, points }));
        this.#kept.push({ name, points });
      }
    }
  }

  /** keep stores the drawings in this browser, and nowhere else. */
  #keep(): void {
    const all = this.#library.getOverlays({ groupId: DRAWN }).filter(({ points }) => points.length > 0);
    const kept = all.map(({ name, points }): Drawing => ({
      name,
      points: points.map(({ timestamp, value }) => ({
        ...(timestamp !== undefined && { timestamp }), ...(value !== undefined && { value }),
      })),
    }));
    keepList(`drawings.${this.#options.pair}`, this.#kept, kept);
    this.#kept = kept;
  }
}

function periodOf(word: string): Period {
  return RESOLUTIONS.find((one) => one.word === word)?.period ?? { type: 'minute', span: 1 };
}

function barOf({ time, open, high, low, close, volume }: CandleRow): KLineData {
  return {
    timestamp: time * 1000, open: height(open), high: height(high), low: height(low), close: height(close), volume: height(volume),
  };
}

function zone(): string {
  return Intl.DateTimeFormat().resolvedOptions().timeZone;
}

registerOverlay<{ text: string; colour: string; behind: string }>({
  name: 'ownOrder',
  totalStep: 2,
  needDefaultPointFigure: false,
  needDefaultXAxisFigure: false,
  needDefaultYAxisFigure: false,
  createPointFigures: ({ coordinates: [at], bounding, overlay }) => {
    if (!at) return [];
    const { text, colour: of, behind } = overlay.extendData;
    return [
      {
        type: 'line', attrs: { coordinates: [{ x: 0, y: at.y }, { x: bounding.width, y: at.y }] },
        styles: { color: of, style: 'dashed', dashedValue: [4, 3], size: 1 },
      },
      {
        type: 'text', attrs: { x: bounding.width - 8, y: at.y, text, align: 'right', baseline: 'middle' },
        styles: {
          color: of, backgroundColor: behind, borderColor: of, borderSize: 1, style: 'stroke_fill', borderRadius: 3,
          paddingLeft: 4, paddingRight: 4, paddingTop: 2, paddingBottom: 2, size: 11,
        },
      },
    ];
  },
});

registerOverlay<{ buy: boolean; colour: string }>({
  name: 'ownFill',
  totalStep: 2,
  needDefaultPointFigure: false,
  needDefaultXAxisFigure: false,
  needDefaultYAxisFigure: false,
  createPointFigures: ({ coordinates: [at], overlay }) => {
    if (!at) return [];
    const { buy, colour: of } = overlay.extendData;
    const to = buy ? 9 : -9;
    return {
      type: 'polygon',
      attrs: { coordinates: [{ x: at.x, y: at.y }, { x: at.x - 5, y: at.y + to }, { x: at.x + 5, y: at.y + to }] },
      styles: { style: 'fill', color: of },
      ignoreEvent: true,
    };
  },
});
