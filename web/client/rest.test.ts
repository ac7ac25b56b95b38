import { expect, test } from 'vitest';

import { Refusal, Rest } from './rest';

/** dated answers each request with a status and a time that is some ms from now. */
function dated(status: number, ahead: number | null): Rest {
  const headers = ahead === null ? {} : { Date: new Date(Date.now() + ahead).toUTCString() };
  return new Rest('', null, () => Promise.resolve(new Response('{}', { status, headers })));
}

test.each([[200], [429]])('an answer of %i tells how far the clock of the exchange is ahead', async (status) => {
  const rest = dated(status, 3_600_000);
  expect(rest.ahead).toBe(0);
  await rest.get('/').catch((cause: unknown) => expect(cause).toBeInstanceOf(Refusal));
  expect(rest.ahead).toBeGreaterThan(3_590_000);
  expect(rest.ahead).toBeLessThanOrEqual(3_600_000);
});

test('without a time the clocks count as alike', async () => {
  const rest = dated(200, null);
  await rest.get('/');
  expect(rest.ahead).toBe(0);
});
