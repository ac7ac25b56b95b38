import { Refusal } from '../../client/rest';

/** asking is the second factor that a request waits for; the shell shows the dialog. */
export const asking: { now: Question | null } = $state({ now: null });

export interface Question {
  /** place is where the code is, such as a masked address. */
  place: string;
  /** wrong is the last refusal of a code, or null. */
  wrong: Refusal | null;
  busy: boolean;
  answer: (code: string | null) => void;
}

/** Dismissed is thrown where a person closed the dialog: the request was not made. */
export class Dismissed extends Error {}

/**
 * confirmed makes a request that may need a second factor. Where it does, a person is asked for the code, and the same
 * request goes again with it; a wrong code asks again.
 */
export async function confirmed<T>(request: (factor: { code2FA?: string }) => Promise<T>): Promise<T> {
  let code: string | null = null;
  let place = '';
  try {
    for (;;) {
      try {
        return await request(code === null ? {} : { code2FA: code });
      } catch (cause) {
        const wrong = cause instanceof Refusal && cause.code === 'INVALID_2FA' && code !== null ? cause : null;
        if (!(cause instanceof Refusal) || (cause.code !== 'REQUIRE_2FA' && !wrong)) throw cause;
        if (!wrong) place = cause.message;
        code = await ask(place, wrong);
      }
    }
  } finally {
    asking.now = null;
  }
}

function ask(place: string, wrong: Refusal | null): Promise<string> {
  return new Promise((resolve, reject) => {
    asking.now = {
      place,
      wrong,
      busy: false,
      answer: (code) => {
        if (code === null) return reject(new Dismissed());
        if (asking.now) asking.now.busy = true;
        resolve(code);
      },
    };
  });
}
