import { Resource } from '../app/resource.svelte';
import { web } from '../app/session.svelte';

/** Status is what the exchange tells everybody of itself. Times are whole Unix seconds. */
export interface Status {
  up: boolean;
  time: number;
  since: number;
  version: string;
  trading: boolean;
  journal: { seq: number; p99_us: number; history_lag: number };
  closed: { pair: string; state: string }[];
  networks: {
    symbol: string;
    name: string;
    operating: boolean;
    withdrawals: boolean;
    tip: number;
    tip_time: number | null;
    lag: number;
  }[];
  notices: Notice[];
}

export interface Notice {
  kind: string;
  time: number;
  title: string;
  body: string;
}

/** status is shared by the strips of every page and the page about it, so that one request serves both. */
export const status = new Resource<Status>((signal) => web.get('/status', {}, signal));
