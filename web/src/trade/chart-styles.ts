import type { DeepPartial, Styles } from 'klinecharts';

/** colour returns a colour of the theme. */
export function colour(element: HTMLElement, name: string): string {
  return getComputedStyle(element).getPropertyValue(name).trim();
}

/** stylesOf returns the library's styles in the colours of the theme. */
export function stylesOf(element: HTMLElement): DeepPartial<Styles> {
  const [up = '', down = '', dim = '', line = '', text = '', panel = '', edge = '', accent = ''] = [
    '--up', '--down', '--dim', '--line', '--text', '--panel', '--edge', '--accent',
  ].map((name) => colour(element, name));
  const family = getComputedStyle(element).fontFamily;
  const changes = { upColor: up, downColor: down, noChangeColor: dim };
  const axis = {
    axisLine: { color: line }, tickLine: { show: false }, tickText: { color: dim, size: 11, family },
  };
  const tag = { color: panel, backgroundColor: edge, borderColor: edge, size: 11, family };

  return {
    grid: { horizontal: { color: line, style: 'solid' }, vertical: { color: line, style: 'solid' } },
    candle: {
      bar: {
        ...changes, upBorderColor: up, downBorderColor: down, noChangeBorderColor: dim,
        upWickColor: up, downWickColor: down, noChangeWickColor: dim,
      },
      priceMark: {
        high: { color: dim, textFamily: family }, low: { color: dim, textFamily: family },
        last: { ...changes, text: { color: panel, size: 11, family } },
      },
      tooltip: {
        showRule: 'follow_cross',
        title: { show: false, color: text, size: 11, family }, legend: { color: dim, size: 11, family },
      },
    },
    indicator: {
      ohlc: { upColor: up, downColor: down, noChangeColor: dim },
      bars: [{ upColor: faint(up), downColor: faint(down), noChangeColor: faint(dim) }],
      lastValueMark: { show: false },
      tooltip: { showRule: 'follow_cross', title: { color: dim, size: 11, family }, legend: { color: dim, size: 11, family } },
    },
    xAxis: axis,
    yAxis: axis,
    separator: { color: line, activeBackgroundColor: line },
    crosshair: {
      horizontal: { line: { color: edge }, text: tag }, vertical: { line: { color: edge }, text: tag },
    },
    overlay: {
      point: { color: accent, borderColor: accent, activeColor: accent, activeBorderColor: accent },
      line: { color: accent, size: 1 }, text: { color: panel, backgroundColor: accent, family },
      polygon: { color: accent, borderColor: accent },
    },
  };
}

/** faint returns a colour of the theme, #rrggbb, at two fifths. */
function faint(of: string): string {
  return `${of}66`;
}
