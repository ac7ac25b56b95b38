import type { Key } from '../texts/index.svelte';
import type { Act, Entry } from './acts.svelte';
import { desk, may } from './desk.svelte';
import { said, type Fact, type Row } from './rows';

/** Listing is a list of the exchange, and what can be done to its rows. */
export interface Listing {
  /** href is the page's address, and title its heading. */
  href: string;
  title: Key;
  /** hint says what the list is for, empty what to do where it has nothing. */
  hint?: Key;
  empty: Key;
  path: string;
  rows: (answer: Answer) => readonly Row[];
  /** id tells rows apart. */
  id: string;
  name: (row: Row) => string;
  facts: readonly Fact[];
  acts: readonly Act[];
  /** general acts are about no row. */
  general?: readonly Act[];
  /** older is how the rows after those that are shown are asked for; lists without it are whole. All pages of after are shown at once. */
  older?: 'offset' | 'id' | 'next' | 'after';
}

/** Answer is a list of the exchange: its rows, and where the next page begins. */
export type Answer = Readonly<Record<string, readonly Row[] | undefined>> & { readonly next?: never };

/** pageAfter answers the query for the page after an answer with so many rows before and in it; null after the last one. */
export function pageAfter(list: Listing, answer: Answer, count: number): Record<string, string> | null {
  const last = list.rows(answer).at(-1);
  if (last === undefined) return null;
  if (list.older === 'offset') return { offset: String(count) };
  if (list.older === 'id') return { before: said(last, list.id) };
  if (!('next' in answer)) return null;
  if (list.older === 'after') return { after: String(answer.next), limit: '200' };
  return list.older === 'next' ? { before: String(answer.next) } : null;
}

const reads = (member: string) => (answer: Answer): readonly Row[] => answer[member] ?? [];

/** withRisk puts the risks of a withdrawal beside its other members. */
function withRisk(row: Row): Row {
  const risk = row['risk'];
  return typeof risk === 'object' && risk !== null && !Array.isArray(risk) ? { ...row, ...(risk as Row) } : row;
}

const roles = ['viewer', 'operator', 'owner'] as const;

const withdrawals: Listing = {
  href: '/operator/withdrawals', title: 'console.withdrawals', empty: 'withdrawals.empty',
  path: '/withdrawals', older: 'after', rows: (answer) => (answer['withdrawals'] ?? []).map(withRisk), id: 'xid', name: (row) => `${said(row, 'amount')} ${said(row, 'asset')}`,
  facts: [
    { of: 'xid', sure: true },
    { of: 'account', as: 'account', sure: true },
    { of: 'network', sure: true },
    { of: 'address', as: 'mono', sure: true },
    { of: 'memo', as: 'mono', sure: true },
    { of: 'internal', as: 'account', sure: true },
    { of: 'new_address', as: 'flag', sure: true, bad: (row) => row['new_address'] === true },
    { of: 'account_created', as: 'time', sure: true },
    { of: 'change', sure: true, bad: () => true },
    { of: 'changed', as: 'time', sure: true, bad: () => true },
    { of: 'held_until', as: 'time', sure: true, bad: () => true },
    { of: 'fee' },
    { of: 'status' },
    { of: 'approved', as: 'flag' },
    { of: 'signed', as: 'flag' },
    { of: 'txid', as: 'mono' },
    { of: 'reverted', as: 'flag', bad: (row) => row['reverted'] === true },
    { of: 'create_time', as: 'time' },
  ],
  acts: [
    {
      text: 'act.approve', command: 'withdrawal approve {xid}', role: 'operator', method: 'POST', path: '/withdrawals/{xid}/approve', look: 'primary',
      fits: (row) => row['signed'] !== true,
    },
    { text: 'act.deny', command: 'withdrawal deny {xid}', role: 'operator', method: 'POST', path: '/withdrawals/{xid}/deny', look: 'danger', fits: (row) => row['signed'] !== true },
    {
      text: 'act.replace', command: 'withdrawal replace {xid}', role: 'owner', method: 'POST', path: '/withdrawals/{xid}/replace', look: 'danger', named: 'xid',
      fits: (row) => row['signed'] === true,
    },
    {
      text: 'act.release', command: 'withdrawal release {xid}', role: 'owner', method: 'POST', path: '/withdrawals/{xid}/release', look: 'danger', named: 'xid',
      fits: (row) => row['signed'] === true,
    },
  ],
  general: [
    {
      text: 'act.limit', command: 'withdrawals limit {asset} {amount}', role: 'owner', method: 'PUT', path: '/assets/{asset}/approval-limit',
      entries: [{ name: 'asset', label: 'fact.asset' }, { name: 'amount', label: 'fact.amount', hint: 'act.limitHint' }],
    },
  ],
};

const deposits: Listing = {
  href: '/operator/deposits', title: 'console.deposits', hint: 'deposits.hint', empty: 'deposits.empty',
  path: '/deposits/parked', rows: reads('deposits'), id: 'deposit', name: (row) => `${said(row, 'amount')} ${said(row, 'asset')}`,
  facts: [
    { of: 'deposit', sure: true },
    { of: 'network', sure: true },
    { of: 'account', as: 'account', sure: true },
    { of: 'memo', as: 'mono', sure: true },
    { of: 'txid', as: 'mono', sure: true },
    { of: 'height' },
    { of: 'confirms' },
    { of: 'confirms_target' },
    { of: 'over_limit', as: 'flag', bad: (row) => row['over_limit'] === true },
    { of: 'over_alone', as: 'flag', bad: (row) => row['over_alone'] === true },
    { of: 'create_time', as: 'time' },
  ],
  acts: [
    {
      text: 'act.assign', command: 'deposit assign {deposit} {account}', role: 'owner', method: 'POST', path: '/deposits/{deposit}/assign', look: 'primary',
      entries: [{ name: 'account', label: 'fact.account', hint: 'accounts.hint' }],
    },
  ],
};

/** outdated tells the acts that are no longer carried out, because a later command set what they set. */
const outdated = (row: Row): boolean => row['outdated'] !== undefined;

const acts: Listing = {
  href: '/operator/acts', title: 'console.acts', hint: 'acts.hint', empty: 'acts.empty',
  path: '/acts', rows: reads('acts'), id: 'act', name: (row) => said(row, 'command'),
  facts: [
    { of: 'act', sure: true },
    { of: 'by' },
    { of: 'email', sure: true },
    { of: 'reason', sure: true },
    { of: 'due', as: 'time' },
    { of: 'outdated', bad: outdated },
    { of: 'digest', as: 'mono', sure: true },
  ],
  acts: [
    {
      text: 'act.approve', role: 'operator', method: 'POST', path: '/acts/{act}/approve', copied: ['digest'], unreasoned: true, look: 'primary',
      fits: (row) => !outdated(row),
    },
    { text: 'act.drop', role: 'operator', method: 'POST', path: '/acts/{act}/drop', copied: ['digest'], unreasoned: true, look: 'danger' },
  ],
};

const pairs: Entry = { name: 'pairs', label: 'fact.pairs', kind: 'several', optional: true, hint: 'act.pairsHint' };

const state = (text: Key, state: string, verb: string, look?: 'danger', named?: string): Act => ({
  text, command: `market ${verb} {pair}`, role: 'operator', method: 'PUT', path: '/markets/{pair}/state', fixed: { state },
  fits: (row) => row['state'] !== state, ...(look && { look }), ...(named && { named }),
});

const markets: Listing = {
  href: '/operator/markets', title: 'console.markets', empty: 'markets.unlisted',
  path: '/dashboard', rows: reads('markets'), id: 'pair', name: (row) => said(row, 'pair'),
  facts: [{ of: 'state', as: 'stateWord', bad: (row) => row['state'] !== 'open' }],
  acts: [
    { ...state('act.open', 'open', 'resume'), role: 'owner' },
    state('act.cancelOnly', 'cancel_only', 'cancel-only'),
    state('act.halt', 'halted', 'halt', 'danger'),
    { ...state('act.delist', 'delisted', 'delist', 'danger', 'pair'), role: 'owner' },
  ],
  general: [
    { text: 'act.haltAll', command: 'markets pause [{pairs}]', role: 'operator', method: 'POST', path: '/markets/pause', look: 'danger', entries: [pairs] },
    { text: 'act.openAll', command: 'markets resume {pairs}', role: 'owner', method: 'POST', path: '/markets/resume', entries: [{ ...pairs, optional: false }] },
  ],
};

/** networkFacts are what works of a network. */
export const networkFacts: readonly Fact[] = [
  { of: 'operating', as: 'flag', bad: (row) => row['operating'] === false },
  { of: 'tip' },
  { of: 'tip_time', as: 'time' },
  { of: 'lag', bad: (row) => row['lag'] !== 0 },
  { of: 'paused', as: 'flag', bad: (row) => row['paused'] === true },
  { of: 'halted', bad: () => true },
  { of: 'cooling', as: 'cooling' },
  { of: 'cold_moves', as: 'moves' },
];

const networks: Listing = {
  href: '/operator/networks', title: 'console.networks', hint: 'networks.hint', empty: 'networks.empty',
  path: '/dashboard', rows: reads('networks'), id: 'network', name: (row) => said(row, 'network'),
  facts: networkFacts,
  acts: [
    {
      text: 'act.pause', command: 'withdrawals pause {network}', role: 'operator', method: 'PUT', path: '/networks/{network}/withdrawals', fixed: { paused: true }, look: 'danger',
      fits: (row) => row['paused'] !== true,
    },
    {
      text: 'act.resume', command: 'withdrawals resume {network}', role: 'owner', method: 'PUT', path: '/networks/{network}/withdrawals', fixed: { paused: false }, named: 'network',
      fits: (row) => row['paused'] === true || said(row, 'halted') !== '',
    },
    {
      text: 'act.cool', role: 'operator', method: 'POST', path: '/networks/{network}/cool',
      entries: [{ name: 'asset', label: 'fact.asset' }, { name: 'amount', label: 'fact.amount', hint: 'act.coolHint' }],
    },
    { text: 'act.endCool', role: 'operator', method: 'POST', path: '/networks/{network}/end-cool', look: 'danger' },
    {
      text: 'act.warm', role: 'operator', method: 'POST', path: '/networks/{network}/send-psbt',
      entries: [{ name: 'signed', label: 'fact.signed_tx', kind: 'text', hint: 'act.warmHint' }],
    },
    { text: 'act.endWarm', role: 'operator', method: 'POST', path: '/networks/{network}/end-psbt', look: 'danger' },
  ],
};

const operators: Listing = {
  href: '/operator/operators', title: 'console.operators', empty: 'operators.empty',
  path: '/operators', rows: reads('operators'), id: 'operator', name: (row) => said(row, 'name') || said(row, 'email') || said(row, 'operator'),
  facts: [
    { of: 'operator', sure: true },
    { of: 'email', sure: true },
    { of: 'role', as: 'roleWord', sure: true },
    { of: 'fingerprint', as: 'mono', sure: true },
    { of: 'enabled', as: 'flag', bad: (row) => row['enabled'] === false },
  ],
  acts: [
    {
      text: 'act.role', role: 'owner', method: 'PATCH', path: '/operators/{operator}',
      entries: [{ name: 'role', label: 'fact.role', kind: 'choice', choices: roles, group: 'roleWord' }],
    },
    {
      text: 'act.disable', command: 'operator change {operator} --disable', role: 'owner', method: 'PATCH', path: '/operators/{operator}', fixed: { enabled: false }, look: 'danger',
      named: 'operator', fits: (row) => row['enabled'] === true,
    },
    {
      text: 'act.enable', command: 'operator change {operator}', role: 'owner', method: 'PATCH', path: '/operators/{operator}', fixed: { enabled: true },
      fits: (row) => row['enabled'] === false,
    },
    {
      text: 'act.logOut', command: 'operator log-out {operator}', role: 'viewer', method: 'POST', path: '/operators/{operator}/log-out', look: 'danger',
      fits: (row) => may('owner') || row['operator'] === desk.now?.operator,
    },
  ],
  general: [
    {
      text: 'act.invite', command: 'operator invite {email} [--name {name}] --role {role}', role: 'owner', method: 'POST', path: '/operators', look: 'primary', once: ['code'],
      entries: [
        { name: 'email', label: 'fact.email' },
        { name: 'name', label: 'fact.name', optional: true },
        { name: 'role', label: 'fact.role', kind: 'choice', choices: roles, group: 'roleWord' },
      ],
    },
    { text: 'act.rules', command: 'rules adopt', role: 'owner', method: 'POST', path: '/rules/adopt' },
  ],
};

const operatorKeys: Listing = {
  href: '/operator/keys', title: 'console.keys', hint: 'keys.hint', empty: 'keys.unmade',
  path: '/operator-keys', rows: (answer) => (answer['keys'] ?? []).map((row) => ({ ...row, of_operator: row['operator'] })), id: 'key', name: (row) => said(row, 'name'),
  facts: [
    { of: 'key', sure: true },
    { of: 'of_operator', sure: true },
    { of: 'scope', as: 'keyScopeWord' },
    { of: 'addresses', as: 'mono' },
    { of: 'created', as: 'time' },
    { of: 'used', as: 'time' },
    { of: 'expires', as: 'time' },
  ],
  acts: [{ text: 'act.end', command: 'operator end-key {key}', role: 'viewer', method: 'POST', path: '/operator-keys/{key}/end', look: 'danger' }],
  general: [
    {
      text: 'act.key', role: 'viewer', method: 'POST', path: '/operator-keys', look: 'primary', once: ['secret'],
      entries: [
        { name: 'name', label: 'fact.name' },
        { name: 'scope', label: 'fact.scope', kind: 'choice', choices: ['read', 'operate'], group: 'keyScopeWord' },
        { name: 'addresses', label: 'fact.addresses', kind: 'several', optional: true, hint: 'act.addressesHint' },
        { name: 'days', label: 'fact.days', kind: 'count', optional: true, hint: 'act.daysHint' },
      ],
    },
  ],
};

const log: Listing = {
  href: '/operator/log', title: 'console.log', empty: 'log.empty',
  path: '/log', rows: reads('notes'), id: 'seq', name: (row) => said(row, 'text'),
  facts: [{ of: 'seq' }, { of: 'time', as: 'time' }, { of: 'uid' }],
  acts: [],
  older: 'offset',
};

const notices: Listing = {
  href: '/operator/notices', title: 'console.notices', hint: 'notices.hint', empty: 'notices.empty',
  path: '/notices', rows: reads('notices'), id: 'id', name: (row) => said(row, 'title'),
  facts: [
    { of: 'id', sure: true },
    { of: 'kind', as: 'noticeWord' },
    { of: 'body' },
    { of: 'created', as: 'time' },
    { of: 'ended', as: 'time' },
  ],
  acts: [
    {
      text: 'act.end', role: 'operator', method: 'POST', path: '/notices/{id}/end', look: 'danger', fits: (row) => row['ended'] === undefined,
    },
  ],
  general: [
    {
      text: 'act.notice', role: 'operator', method: 'POST', path: '/notices', look: 'primary',
      entries: [
        { name: 'kind', label: 'fact.kind', kind: 'choice', choices: ['banner', 'popup', 'announcement'], group: 'noticeWord' },
        { name: 'title', label: 'fact.title' },
        { name: 'body', label: 'fact.body' },
      ],
    },
  ],
  older: 'id',
};

const webhooks: Listing = {
  href: '/operator/webhooks', title: 'console.webhooks', empty: 'webhooks.empty',
  path: '/webhooks', rows: reads('webhooks'), id: 'webhook', name: (row) => said(row, 'url'),
  facts: [
    { of: 'webhook', sure: true },
    { of: 'kinds', as: 'mono' },
    { of: 'created', as: 'time' },
    { of: 'delivered' },
    { of: 'lag' },
    { of: 'failing_since', as: 'time', bad: () => true },
    { of: 'failure', bad: () => true },
    { of: 'disabled', as: 'time', bad: () => true },
    { of: 'cause', bad: () => true },
  ],
  acts: [
    { text: 'act.test', role: 'owner', method: 'POST', path: '/webhooks/{webhook}/test' },
    {
      text: 'act.enable', role: 'owner', method: 'POST', path: '/webhooks/{webhook}/enable', fits: (row) => row['disabled'] !== undefined,
    },
    { text: 'act.remove', role: 'owner', method: 'POST', path: '/webhooks/{webhook}/remove', look: 'danger', named: 'webhook' },
  ],
  general: [
    {
      text: 'act.webhook', role: 'owner', method: 'POST', path: '/webhooks', look: 'primary', once: ['secret'],
      entries: [{ name: 'url', label: 'fact.url' }, { name: 'kinds', label: 'fact.kinds', hint: 'act.kindsHint' }],
    },
  ],
};

/** lists are the pages that are a list, in the header's order. */
export const lists: readonly Listing[] = [withdrawals, deposits, acts, markets, networks, notices, webhooks, operators, operatorKeys, log];

const empty: Omit<Listing, 'title' | 'path' | 'rows' | 'id' | 'name' | 'facts'> = { href: '', empty: 'account.none', acts: [] };

/** accountLists are the lists of an account, which its page shows below it. */
export const accountLists: readonly Listing[] = [
  {
    ...empty, title: 'account.transactions', path: '/accounts/{account}/transactions', rows: reads('transactions'), id: 'xid',
    name: (row) => `${said(row, 'kind')} ${said(row, 'amount')} ${said(row, 'asset')}`,
    facts: [
      { of: 'xid' }, { of: 'network' }, { of: 'address', as: 'mono' }, { of: 'memo', as: 'mono' }, { of: 'fee' }, { of: 'status' },
      { of: 'txid', as: 'mono' }, { of: 'party', as: 'account' }, { of: 'create_time', as: 'time' },
    ],
    older: 'next',
  },
  {
    ...empty, title: 'account.orders', path: '/accounts/{account}/orders', rows: reads('orders'), id: 'obid',
    name: (row) => `${said(row, 'side')} ${said(row, 'pair')}`,
    facts: [
      { of: 'obid' }, { of: 'type' }, { of: 'price' }, { of: 'amount' }, { of: 'total' }, { of: 'filled' }, { of: 'status' },
      { of: 'time', as: 'time' },
    ],
    older: 'next',
  },
  {
    ...empty, title: 'account.ledger', path: '/accounts/{account}/ledger', rows: reads('entries'), id: 'at',
    name: (row) => `${said(row, 'delta')} ${said(row, 'asset')}`,
    facts: [{ of: 'kind' }, { of: 'balance' }, { of: 'seq' }, { of: 'obid' }, { of: 'xid' }, { of: 'time', as: 'time' }],
    older: 'next',
  },
  {
    ...empty, title: 'account.sessions', path: '/accounts/{account}/sessions', rows: reads('sessions'), id: 'at',
    name: (row) => said(row, 'agent') || said(row, 'address'),
    facts: [{ of: 'address' }, { of: 'created', as: 'time' }, { of: 'used', as: 'time' }, { of: 'expires', as: 'time' }],
  },
];

/** accountActs are what can be done to an account, and keyActs to one of its keys. */
export const accountActs: readonly Act[] = [
  {
    text: 'act.freeze', command: 'account freeze {account}', role: 'operator', method: 'POST', path: '/accounts/{account}/freeze', look: 'danger',
    fits: (row) => row['frozen'] !== true,
  },
  { text: 'act.unfreeze', command: 'account unfreeze {account}', role: 'operator', method: 'POST', path: '/accounts/{account}/unfreeze', fits: (row) => row['frozen'] === true },
  {
    text: 'act.tier', command: 'account tier {account} {tier} --reason {reason}', role: 'operator', method: 'PUT', path: '/accounts/{account}/tier',
    entries: [{ name: 'tier', label: 'fact.tier' }],
  },
  {
    text: 'act.level', command: 'account level {account} [--fix {level}]', role: 'owner', method: 'PUT', path: '/accounts/{account}/level',
    entries: [{ name: 'level', label: 'fact.fee_level', kind: 'count', optional: true, hint: 'act.levelHint' }],
  },
  {
    text: 'act.fees', command: 'account fees {account} [--maker {maker_fee}] [--taker {taker_fee}]', role: 'owner', method: 'PUT', path: '/accounts/{account}/fees',
    entries: [
      { name: 'maker_fee', label: 'fact.maker_fee', optional: true, hint: 'act.feesHint' },
      { name: 'taker_fee', label: 'fact.taker_fee', optional: true },
    ],
  },
  {
    text: 'act.resetFactors', command: 'account reset {account} --factors [--email {email}]', role: 'owner', method: 'POST', path: '/accounts/{account}/reset', fixed: { factors: true }, look: 'danger',
    named: 'account', entries: [{ name: 'email', label: 'fact.new_email', optional: true, hint: 'act.resetFactorsHint' }],
  },
  {
    text: 'act.resetEmail', command: 'account reset {account} --email {email}', role: 'owner', method: 'POST', path: '/accounts/{account}/reset', look: 'danger', named: 'account',
    entries: [{ name: 'email', label: 'fact.new_email', hint: 'act.resetEmailHint' }],
  },
];

export const keyActs: readonly Act[] = [
  {
    text: 'act.revoke', command: 'key revoke {key_id}', role: 'operator', method: 'POST', path: '/keys/{key_id}/revoke', look: 'danger',
    fits: (row) => row['revoked'] !== true,
  },
];

/** collectFees moves what fees have gathered to the treasury. */
export const collectFees: Act = { text: 'act.collect', command: 'fees collect', role: 'owner', method: 'POST', path: '/fees/collect' };

/** applyCatalogue orders the changes that a preview showed. */
export const applyCatalogue: Act = {
  text: 'act.apply', role: 'owner', method: 'POST', path: '/catalogue', copied: ['document', 'preview'], named: 'exchange', look: 'danger',
};
