import { door } from './door';
import { explain, isSignedOut, type Explanation } from './explain';
import { Dismissed } from './factor.svelte';

/** Submission is one form's request: busy while it is under way, wrong when it was refused. */
export class Submission {
  busy = $state(false);
  wrong: Explanation | null = $state(null);
  /** cause is the last refusal, for forms that treat a code of their own. */
  cause: unknown = $state.raw(null);

  /** run answers whether the action succeeded. A second call while one is under way does nothing. */
  async run(action: () => Promise<void>): Promise<boolean> {
    if (this.busy) return false;

    this.busy = true;
    this.wrong = null;
    this.cause = null;
    try {
      await action();
      return true;
    } catch (cause) {
      if (cause instanceof Dismissed) return false;
      this.cause = cause;
      this.wrong = explain(cause);
      if (isSignedOut(cause)) door.lost();
      return false;
    } finally {
      this.busy = false;
    }
  }
}
