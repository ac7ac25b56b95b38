/**
 * connection is the state of the page's stream: the feed sets it, the header shows it. It is idle while no page has
 * asked for a stream.
 */
export const connection = $state({ state: 'idle' as 'idle' | 'live' | 'stale' | 'offline' });
