import { web } from '../app/session.svelte';
import type { Market } from './markets';

/** listMarkets asks for all markets. */
export async function listMarkets(signal?: AbortSignal): Promise<Market[]> {
  return (await web.get<{ markets: Market[] }>('/markets', undefined, signal)).markets;
}
