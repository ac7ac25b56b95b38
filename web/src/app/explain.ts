import { Refusal } from '../../client/rest';
import { known, t } from '../texts/index.svelte';
import { visible } from './visible';

/** Explanation is what a person reads of a refusal: a text of the catalogue, and the exchange's own words where they say more. */
export interface Explanation {
  text: string;
  said: string;
}

/** explain puts a refusal into words, by its code; what to do next is part of the text. */
export function explain(cause: unknown): Explanation {
  if (!(cause instanceof Refusal)) return { text: t('error.UNKNOWN'), said: '' };

  const key = `error.${cause.code}`;
  const wait = cause.retryAfter === null ? '' : t('error.wait', { seconds: String(cause.retryAfter) });
  if (!known(key)) return { text: t('error.refused'), said: visible(cause.message) };

  const text = [t(key), wait].filter((part) => part !== '').join(' ');
  return { text, said: detailed.has(cause.code) ? visible(cause.message) : '' };
}

// The exchange's words name the field, the limit or the network that these are about.
const detailed = new Set([
  'VALIDATION_ERROR', 'MISSING_DATA', 'AMOUNT_OUT_OF_RANGE', 'FEE_OUT_OF_RANGE', 'LIMIT_OUT_OF_RANGE', 'INVALID_NETWORK', 'CONFLICT', 'FORBIDDEN',
]);

/** isSignedOut tells refusals that a log-in mends. */
export function isSignedOut(cause: unknown): boolean {
  return cause instanceof Refusal && ['UNAUTHORIZED', 'INVALID_KEY', 'NO_SESSION'].includes(cause.code);
}
