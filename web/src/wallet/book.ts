import { api } from '../app/session.svelte';
import type { Network } from './wallet.svelte';

/** Entry is an address that the account's holder has saved. */
export interface Entry {
  adbkid: number;
  name: string;
  address: string;
  memo: string | null;
  network: Network;
}

/** entries asks for the address book. */
export async function entries(signal: AbortSignal): Promise<Entry[]> {
  const answer = await api.get<{ addresses: Entry[] }>('/wallet/v2/addressbook', { limit: '500' }, signal);
  return answer.addresses;
}
