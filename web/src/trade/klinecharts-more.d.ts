declare module 'klinecharts/more' {
  import type { IndicatorTemplate, OverlayTemplate } from 'klinecharts';

  export const moreIndicators: IndicatorTemplate[];
  export const moreDrawings: OverlayTemplate[];
}
