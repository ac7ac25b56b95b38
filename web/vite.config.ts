import { svelte } from '@sveltejs/vite-plugin-svelte';
import { defineConfig, type Plugin } from 'vite';
import { chartLibrary } from './chart-library';
import { shell } from './src/texts/en';
import { account } from './src/texts/en.account';
import { operator } from './src/texts/en.operator';
import { trade } from './src/texts/en.trade';
import { wallet } from './src/texts/en.wallet';

/** catalogue writes the English texts of a site to a file, which the binary holds other languages against. */
function catalogue(fileName: string, texts: Record<string, string>): Plugin {
  const source = JSON.stringify(texts, null, 1);
  return {
    name: 'catalogue',
    generateBundle() {
      this.emitFile({ type: 'asset', fileName, source });
    },
  };
}

// A new chart shows MA and VOL. What more a person can choose is in ChartPanel.
const chart = {
  first: { indicators: ['movingAverage', 'volume'], figures: ['circle', 'line', 'polygon', 'rect', 'text'], drawings: [] },
  more: {
    indicators: [
      'exponentialMovingAverage', 'bollingerBands', 'stopAndReverse', 'movingAverageConvergenceDivergence', 'relativeStrengthIndex', 'stoch',
      'commodityChannelIndex', 'directionalMovementIndex', 'onBalanceVolume', 'rateOfChange', 'tripleExponentiallySmoothedAverage',
      'williamsR',
    ],
    drawings: [
      'segment', 'rayLine', 'horizontalStraightLine', 'verticalStraightLine', 'parallelStraightLine', 'priceChannelLine', 'fibonacciLine',
    ],
  },
  // chart-styles.ts has candles, tooltips as text, no icons in tooltips or at the crosshair, and no marks of indicators' values.
  off: {
    'CandleAreaView.drawImp': '',
    'CandleTooltipView._drawRectTooltip': '',
    'CrosshairFeatureView.drawImp': '',
    'IndicatorLastValueView.drawImp': '',
    'IndicatorTooltipView.drawStandardTooltipFeatures': 'return prevRowHeight;',
  },
  // The library writes these sizes itself. Reading the written ones lays out no page.
  instead: {
    'var w = container.clientWidth;': 'var w = parseFloat(container.style.width);',
    'var h = container.clientHeight;': 'var h = parseFloat(container.style.height);',
    'this._container.clientHeight': 'parseFloat(this._container.style.height)',
  },
  callers: ['src/trade/chart.ts', 'src/trade/templates.ts'],
};

// The pages are served from the root by the binary, under a policy that allows neither inline scripts nor inline styles
// nor data in place of a file: nothing is inlined. Names of assets hold the hash of their content and never change theirs.
// The mode "operator" builds the operators' console beside the pages, with scripts of its own: another listener serves it.
export default defineConfig(({ mode }) => ({
  plugins: [
    svelte(),
    chartLibrary(chart),
    mode === 'operator'
      ? catalogue('operator/texts.json', { ...shell, ...operator })
      : catalogue('texts.json', { ...shell, ...trade, ...wallet, ...account }),
  ],
  build: {
    outDir: '../internal/web/dist',
    emptyOutDir: mode !== 'operator',
    ...(mode === 'operator' && {
      assetsDir: 'operator/assets',
      copyPublicDir: false,
      rolldownOptions: { input: 'operator.html' },
    }),
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    target: 'es2022',
    reportCompressedSize: true,
    license: { fileName: mode === 'operator' ? 'operator/LICENSES.md' : 'LICENSES.md' },
  },
  worker: { format: 'es' },
  server: {
    proxy: Object.fromEntries(
      ['/web', '/spot', '/wallet/v', '/account/v', '/info', '/icons', '/docs', '/dev'].map((path) => [
        path,
        { target: 'http://127.0.0.1:8080', ws: true },
      ]),
    ),
  },
}));
