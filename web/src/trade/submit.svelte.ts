// Sends one order at a time. After a lost answer the same request goes again, also after a reload of the page:
// its client_id makes sure that it is placed once, and it never goes again for another account.

import { Refusal } from '../../client/rest';
import { keep, recall } from '../app/keep';
import { api, session } from '../app/session.svelte';

export interface Answer {
  obid: number;
  status: 'OPEN' | 'FILLED' | 'CANCELED' | 'KILLED';
  filled: string;
}

export type Body = Record<string, string | boolean>;

/** Outcome is where the last order stands. */
export type Outcome =
  | { state: 'none' }
  | { state: 'sent' | 'again'; body: Body }
  | { state: 'answered'; body: Body; answer: Answer }
  | { state: 'refused'; body: Body; cause: unknown };

class Submission {
  outcome: Outcome = $state.raw({ state: 'none' });
  readonly busy = $derived(this.outcome.state === 'sent' || this.outcome.state === 'again');
}

export const submission = new Submission();

const PENDING = 'order.pending';

/** PAUSES are the times between tries, in ms; the last one repeats. */
const PAUSES = [250, 500, 1_000, 2_000];

/** submit sends an order until the exchange has answered, or the session is no longer the account's. */
export async function submit(body: Body): Promise<void> {
  if (submission.busy) return;
  const account = session.now?.account;
  keep('sessionStorage', PENDING, body);
  submission.outcome = { state: 'sent', body };
  for (let tries = 0; ; tries++) {
    try {
      const answer = await api.post<Answer>('/spot/open_orders/new', body);
      submission.outcome = { state: 'answered', body, answer };
      break;
    } catch (cause) {
      if (!isLost(cause)) {
        submission.outcome = { state: 'refused', body, cause };
        break;
      }
      submission.outcome = { state: 'again', body };
      await pause(waitOf(cause) ?? PAUSES[Math.min(tries, PAUSES.length - 1)] ?? 0);
      if (session.now?.account !== account) {
        submission.outcome = { state: 'none' };
        return; // it goes again when the account is back in this tab
      }
    }
  }
  keep('sessionStorage', PENDING, null);
}

/** resume sends an order whose answer was lost with a reload. */
export function resume(): void {
  const body = recall<Body | null>('sessionStorage', PENDING, null);
  if (body !== null && typeof body === 'object' && typeof body['client_id'] === 'string') void submit(body);
}

/** isLost reports whether the outcome of a request is unknown, or the exchange asks for it later. */
function isLost(cause: unknown): boolean {
  if (!(cause instanceof Refusal)) return false;
  return cause.status === 0 || cause.status === 429 || cause.status >= 500 || cause.code === 'TIMEOUT';
}

function waitOf(cause: unknown): number | null {
  return cause instanceof Refusal && cause.retryAfter !== null ? cause.retryAfter * 1_000 : null;
}

function pause(delay: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, delay);
  });
}
