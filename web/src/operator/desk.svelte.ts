import { Refusal, Rest, type Method } from '../../client/rest';
import { exchange } from '../app/exchange.svelte';
import { isSignedOut } from '../app/explain';
import { Dismissed } from '../app/factor.svelte';
import { signed, type Asked } from '../app/passkey';

const roles = ['viewer', 'operator', 'owner'] as const;

/** Role is what an operator may do; each includes the ones before it. */
export type Role = (typeof roles)[number];

export interface Session {
  operator: number;
  email: string;
  name: string;
  role: Role;
  /** expires is in whole Unix seconds. */
  expires: number;
}

/** api sends requests with the cookie of the operator's session. */
export const api = new Rest('/operator/v1');

/** desk is the operator who is logged in; now is null for nobody, and asked is false until the exchange told. */
export const desk: { now: Session | null; asked: boolean } = $state({ now: null, asked: false });

/** loadSession asks who is logged in. An exchange that cannot be reached changes nothing. */
export async function loadSession(): Promise<void> {
  try {
    const answer = await api.get<Partial<Session> & { sandbox: boolean }>('/session');
    exchange.sandbox = answer.sandbox;
    desk.now = answer.operator ? (answer as Session) : null;
  } catch (cause) {
    if (isSignedOut(cause)) desk.now = null;
    else if (!(cause instanceof Refusal)) throw cause;
  } finally {
    desk.asked = true;
  }
}

/** leave ends the session. */
export async function leave(): Promise<void> {
  await api.send('DELETE', '/session');
  desk.now = null;
}

/** may tells whether the operator has a role. The exchange holds every act against it as well. */
export function may(role: Role): boolean {
  return desk.now !== null && roles.indexOf(desk.now.role) >= roles.indexOf(role);
}

/**
 * signedFor makes a request that the operator's passkey confirms: the exchange asks for it, and the same request goes
 * again with the assertion. It throws Dismissed where the person called that off.
 */
export async function signedFor<T>(method: Method, path: string, body: Readonly<Record<string, unknown>>): Promise<T> {
  try {
    return await api.send<T>(method, path, { body });
  } catch (cause) {
    if (!(cause instanceof Refusal) || cause.code !== 'REQUIRE_2FA') throw cause;
    const assertion = await signed(cause.detail['passkey'] as Asked);
    if (assertion === null) throw new Dismissed();
    return await api.send<T>(method, path, { body: { ...body, assertion2FA: assertion } });
  }
}
