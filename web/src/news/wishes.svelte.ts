import { api } from '../app/session.svelte';

export const kinds = ['FILLS', 'DEPOSITS', 'WITHDRAWALS'] as const;
export const ways = ['page', 'mail'] as const;

export type Kind = (typeof kinds)[number];
export type Way = (typeof ways)[number];

/** Wishes are the news that the account wants, in its pages and by mail. */
export type Wishes = Record<Way, Kind[]>;

/** wishes are the account's, null until they were told. */
export const wishes: { now: Wishes | null } = $state({ now: null });

export async function loadWishes(): Promise<void> {
  wishes.now = await api.get<Wishes>('/account/v2/news');
}

/** wish sets whether the account wants a kind of news in a way. */
export async function wish(way: Way, kind: Kind, on: boolean): Promise<void> {
  const chosen = kinds.filter((one) => (one === kind ? on : wishes.now?.[way].includes(one)));
  wishes.now = await api.send<Wishes>('PATCH', '/account/v2/news', { body: { [way]: chosen } });
}
