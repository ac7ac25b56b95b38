import type { Key } from '../texts/index.svelte';
import type { Act } from './acts.svelte';
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
  /** older answers the query for the rows after those that are shown; lists without it are whole. */
  older?: (rows: readonly Row[]) => Record<string, string>;
}

export type Answer = Readonly<Record<string, readonly Row[] | undefined>>;

const reads = (member: string) => (answer: Answer): readonly Row[] => answer[member] ?? [];

const roles = ['viewer', 'operator', 'owner'] as const;

const withdrawals: Listing = {
  href: '/operator/withdrawals', title: 'console.withdrawals', empty: 'withdrawals.empty',
  path: '/withdrawals', rows: reads('withdrawals'), id: 'xid', name: (row) => `${said(row, 'amount')} ${said(row, 'asset')}`,
  facts: [
    { of: 'xid', sure: true },
    { of: 'account', as: 'account', sure: true },
    { of: 'network', sure: true },
    { of: 'address', as: 'mono', sure: true },
    { of: 'memo', as: 'mono', sure: true },
    { of: 'internal', as: 'account', sure: true },
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
      text: 'act.approve', role: 'operator', method: 'POST', path: '/withdrawals/{xid}/approve', look: 'primary',
      fits: (row) => row['signed'] !== true,
    },
    { text: 'act.deny', role: 'operator', method: 'POST', path: '/withdrawals/{xid}/deny', look: 'danger', fits: (row) => row['signed'] !== true },
    {
      text: 'act.replace', role: 'owner', method: 'POST', path: '/withdrawals/{xid}/replace', look: 'danger', named: 'xid',
      fits: (row) => row['signed'] === true,
    },
    {
      text: 'act.release', role: 'owner', method: 'POST', path: '/withdrawals/{xid}/release', look: 'danger', named: 'xid',
      fits: (row) => row['signed'] === true,
    },
  ],
  general: [
    {
      text: 'act.limit', role: 'owner', method: 'PUT', path: '/assets/{asset}/approval-limit',
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
    { of: 'create_time', as: 'time' },
  ],
  acts: [
    {
      text: 'act.assign', role: 'owner', method: 'POST', path: '/deposits/{deposit}/assign', look: 'primary',
      entries: [{ name: 'account', label: 'fact.account', hint: 'accounts.hint' }],
    },
  ],
};

const acts: Listing = {
  href: '/operator/acts', title: 'console.acts', hint: 'acts.hint', empty: 'acts.empty',
  path: '/acts', rows: reads('acts'), id: 'act', name: (row) => said(row, 'command'),
  facts: [
    { of: 'act', sure: true },
    { of: 'by' },
    { of: 'reason', sure: true },
    { of: 'due', as: 'time' },
    { of: 'digest', as: 'mono', sure: true },
  ],
  acts: [
    {
      text: 'act.approve', role: 'operator', method: 'POST', path: '/acts/{act}/approve', copied: ['digest'], unreasoned: true, look: 'primary',
    },
    { text: 'act.drop', role: 'operator', method: 'POST', path: '/acts/{act}/drop', copied: ['digest'], unreasoned: true, look: 'danger' },
  ],
};

const state = (text: Key, state: string, look: 'primary' | 'danger' | undefined, named?: string): Act => ({
  text, role: 'operator', method: 'PUT', path: '/markets/{pair}/state', fixed: { state },
  fits: (row) => row['state'] !== state, ...(look && { look }), ...(named && { named }),
});

const markets: Listing = {
  href: '/operator/markets', title: 'console.markets', empty: 'markets.none',
  path: '/catalogue', rows: (answer) => (answer['markets'] ?? []).map((row) => ({ ...row, pair: `${said(row, 'base')}/${said(row, 'quote')}` })),
  id: 'pair', name: (row) => said(row, 'pair'),
  facts: [{ of: 'enabled', as: 'flag' }, { of: 'maker_fee' }, { of: 'taker_fee' }, { of: 'min_order' }, { of: 'band' }],
  acts: [
    state('act.open', 'open', 'primary'),
    state('act.cancelOnly', 'cancel_only', undefined),
    state('act.halt', 'halted', 'danger'),
    { ...state('act.delist', 'delisted', 'danger', 'pair'), role: 'owner' },
  ],
};

const networks: Listing = {
  href: '/operator/networks', title: 'console.networks', hint: 'networks.hint', empty: 'networks.empty',
  path: '/catalogue', rows: (answer) => (answer['networks'] ?? []).map((row) => ({ ...row, network: said(row, 'symbol') })),
  id: 'network', name: (row) => said(row, 'network'),
  facts: [{ of: 'name' }, { of: 'enabled', as: 'flag' }],
  acts: [
    { text: 'act.pause', role: 'operator', method: 'PUT', path: '/networks/{network}/withdrawals', fixed: { paused: true }, look: 'danger' },
    { text: 'act.resume', role: 'owner', method: 'PUT', path: '/networks/{network}/withdrawals', fixed: { paused: false }, named: 'network' },
  ],
};

const operators: Listing = {
  href: '/operator/operators', title: 'console.operators', empty: 'operators.empty',
  path: '/operators', rows: reads('operators'), id: 'operator', name: (row) => said(row, 'name') || said(row, 'email') || said(row, 'operator'),
  facts: [
    { of: 'operator', sure: true },
    { of: 'email', sure: true },
    { of: 'role', as: 'roleWord', sure: true },
    { of: 'enabled', as: 'flag', bad: (row) => row['enabled'] === false },
  ],
  acts: [
    {
      text: 'act.role', role: 'owner', method: 'PATCH', path: '/operators/{operator}', copied: ['enabled'],
      entries: [{ name: 'role', label: 'fact.role', kind: 'choice', choices: roles, group: 'roleWord' }],
    },
    {
      text: 'act.disable', role: 'owner', method: 'PATCH', path: '/operators/{operator}', fixed: { enabled: false }, look: 'danger',
      named: 'operator', fits: (row) => row['enabled'] === true,
    },
    {
      text: 'act.enable', role: 'owner', method: 'PATCH', path: '/operators/{operator}', fixed: { enabled: true },
      fits: (row) => row['enabled'] === false,
    },
  ],
  general: [
    {
      text: 'act.invite', role: 'owner', method: 'POST', path: '/operators', look: 'primary', once: ['code'],
      entries: [
        { name: 'email', label: 'fact.email' },
        { name: 'name', label: 'fact.name', optional: true },
        { name: 'role', label: 'fact.role', kind: 'choice', choices: roles, group: 'roleWord' },
      ],
    },
  ],
};

const log: Listing = {
  href: '/operator/log', title: 'console.log', empty: 'log.empty',
  path: '/log', rows: reads('notes'), id: 'seq', name: (row) => said(row, 'text'),
  facts: [{ of: 'seq' }, { of: 'time', as: 'time' }, { of: 'uid' }],
  acts: [],
  older: (rows) => ({ offset: String(rows.length) }),
};

/** lists are the pages that are a list, in the header's order. */
export const lists: readonly Listing[] = [withdrawals, deposits, acts, markets, networks, operators, log];

/** accountActs are what can be done to an account, and keyActs to one of its keys. */
export const accountActs: readonly Act[] = [
  {
    text: 'act.freeze', role: 'operator', method: 'POST', path: '/accounts/{account}/freeze', look: 'danger',
    fits: (row) => row['frozen'] !== true,
  },
  { text: 'act.unfreeze', role: 'operator', method: 'POST', path: '/accounts/{account}/unfreeze', fits: (row) => row['frozen'] === true },
  {
    text: 'act.tier', role: 'operator', method: 'PUT', path: '/accounts/{account}/tier',
    entries: [{ name: 'tier', label: 'fact.tier' }],
  },
  {
    text: 'act.level', role: 'owner', method: 'PUT', path: '/accounts/{account}/level',
    entries: [{ name: 'level', label: 'fact.fee_level', kind: 'count', optional: true, hint: 'act.levelHint' }],
  },
  {
    text: 'act.fees', role: 'owner', method: 'PUT', path: '/accounts/{account}/fees',
    entries: [
      { name: 'maker_fee', label: 'fact.maker_fee', optional: true, hint: 'act.feesHint' },
      { name: 'taker_fee', label: 'fact.taker_fee', optional: true },
    ],
  },
];

export const keyActs: readonly Act[] = [
  {
    text: 'act.revoke', role: 'operator', method: 'POST', path: '/keys/{key_id}/revoke', look: 'danger',
    fits: (row) => row['revoked'] !== true,
  },
];

/** collectFees moves what fees have gathered to the treasury. */
export const collectFees: Act = { text: 'act.collect', role: 'owner', method: 'POST', path: '/fees/collect' };

/** applyCatalogue orders the changes that a preview showed. */
export const applyCatalogue: Act = {
  text: 'act.apply', role: 'owner', method: 'POST', path: '/catalogue', copied: ['document', 'preview'], named: 'exchange', look: 'danger',
};
