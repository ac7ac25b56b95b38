import { web } from './session.svelte';

/** exchange is what the pages know of the exchange itself. */
export const exchange = $state({ sandbox: false, name: 'Bourse' });

/** loadExchange asks once; without an answer the pages show no ribbon, and nothing else depends on it. */
export async function loadExchange(): Promise<void> {
  try {
    const status = await web.get<{ sandbox?: boolean }>('/status');
    exchange.sandbox = status.sandbox === true;
  } catch {
    return;
  }
}
