import type { Estimate } from '../../client/estimate';
import type { BookView, TapeRow } from './protocol';

/** View is what the worker told last of the watched market. */
class View {
  pair = $state('');
  book: BookView | null = $state.raw(null);
  /** tape has the newest trades first. */
  tape: TapeRow[] = $state.raw([]);
  /** last is the last trade, null before the first. */
  last: TapeRow | null = $state.raw(null);
  /** estimate is that of the present sketch. */
  estimate: Estimate | null = $state.raw(null);
}

export const view = new View();
