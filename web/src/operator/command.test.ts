import { expect, it } from 'vitest';
import { commandOf } from './command';

it.each([
  ['market halt {pair}', { pair: 'BTC/USDT' }, 'market halt BTC/USDT'],
  ['account tier {account} {tier} --reason {reason}', { account: 7, tier: 'basic' }, 'account tier 7 basic --reason REASON'],
  ['operator invite {email} [--name {name}] --role {role}', { email: 'a@b.c', name: '', role: 'owner' }, 'operator invite a@b.c --role owner'],
  ['operator invite {email} [--name {name}]', { email: 'a@b.c', name: "Ann O'Hara; rm" }, `operator invite a@b.c --name 'Ann O'\\''Hara; rm'`],
  ['markets pause [{pairs}]', { pairs: ['BTC/USDT', 'ETH/USDT'] }, 'markets pause BTC/USDT ETH/USDT'],
  ['markets pause [{pairs}]', { pairs: [] }, 'markets pause'],
  ['key revoke {key_id}', { key_id: '$(id)\u202e' }, "key revoke '$(id)\ufffd'"],
])('writes %s', (template, values, want) => {
  expect(commandOf(template, values)).toBe(`bourse admin --data DIR ${want}`);
});
