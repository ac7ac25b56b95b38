import { Refusal, Rest } from '../../client/rest';
import { exchange } from './exchange.svelte';
import { isSignedOut } from './explain';
import { forget, keep, recall } from './keep';

export interface Session {
  account: number;
  email: string | null;
  /** Times are whole Unix seconds. */
  expires: number | null;
  frozen: boolean;
  heldUntil: number | null;
  /** termsAccepted is false while there are terms that the account has not accepted. */
  termsAccepted: boolean;
  /** factors are the providers that confirm, such as EMAIL. */
  factors: string[];
}

/** api sends the page's requests with the session's cookie. */
export const api = new Rest('/web/api');

/** web sends what belongs to the pages alone. */
export const web = new Rest('/web');

/** session is the account that is logged in; now is null for a guest, and asked is false until the exchange told. */
export const session: { now: Session | null; asked: boolean } = $state({ now: null, asked: false });

/** loadSession asks who is logged in; a guest's answer is empty. An exchange that cannot be reached changes nothing. */
export async function loadSession(): Promise<void> {
  try {
    const answer = await web.get<Partial<Session> & { sandbox: boolean }>('/session');
    exchange.sandbox = answer.sandbox;
    enter(answer.account ? (answer as Session) : null);
  } catch (cause) {
    if (isSignedOut(cause)) session.now = null;
    else if (cause instanceof Refusal && cause.status === 0) return;
    else if (!(cause instanceof Refusal)) throw cause;
  } finally {
    session.asked = true;
  }
}

/** enter shows whose session it is. One of another account than the last in this tab finds nothing of that one's. */
function enter(next: Session | null): void {
  if (next !== null) {
    if (recall('sessionStorage', 'account', next.account) !== next.account) forgetTyped();
    keep('sessionStorage', 'account', next.account);
  }
  session.now = next;
}

/** forgetTyped forgets what was typed in this tab, and an order whose answer was lost. */
function forgetTyped(): void {
  forget('sessionStorage', 'draft.');
  forget('sessionStorage', 'order.');
}

/** leave ends the session, and forgets what was typed. */
export async function leave(): Promise<void> {
  await web.send('DELETE', '/session');
  session.now = null;
  forgetTyped();
}
