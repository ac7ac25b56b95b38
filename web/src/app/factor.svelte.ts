import { Refusal } from '../../client/rest';
import type { Asked } from './passkey';

/** asking is the second factor that a request waits for; the shell shows the dialog. */
export const asking: { now: Question | null } = $state({ now: null });

/** Factor is what confirms a request, as a part of its body. */
export interface Factor {
  code2FA?: string;
  assertion2FA?: unknown;
}

export interface Question {
  /** place is where the code is, such as a masked address; empty where codes will not do. */
  place: string;
  /** passkey is what a passkey is asked, null where the account has none. */
  passkey: Asked | null;
  /** wrong is the last refusal of a factor, or null. */
  wrong: Refusal | null;
  busy: boolean;
  answer: (factor: Factor | null) => void;
}

/** Dismissed is thrown where a person closed the dialog: the request was not made. */
export class Dismissed extends Error {}

/**
 * confirmed makes a request that may need a second factor. Where it does, a person is asked for a code or a passkey, and
 * the same request goes again with it; a wrong one asks again.
 */
export async function confirmed<T>(request: (factor: Factor) => Promise<T>): Promise<T> {
  let factor: Factor = {};
  let asked: Refusal | null = null;
  try {
    for (;;) {
      try {
        return await request(factor);
      } catch (cause) {
        const wrong: Refusal | null = cause instanceof Refusal && cause.code === 'INVALID_2FA' && asked ? cause : null;
        if (!(cause instanceof Refusal) || (cause.code !== 'REQUIRE_2FA' && !wrong)) throw cause;
        asked = wrong ? asked : cause;
        factor = await ask(asked ?? cause, wrong);
      }
    }
  } finally {
    asking.now = null;
  }
}

function ask({ message, detail }: Refusal, wrong: Refusal | null): Promise<Factor> {
  return new Promise((resolve, reject) => {
    asking.now = {
      place: detail['provider'] === 'WEBAUTHN' ? '' : message,
      passkey: (detail['passkey'] as Asked | undefined) ?? null,
      wrong,
      busy: false,
      answer: (factor) => {
        if (factor === null) {
          asking.now = null;
          return reject(new Dismissed());
        }
        if (asking.now) asking.now.busy = true;
        resolve(factor);
      },
    };
  });
}
