/** exchange is what the pages know of the exchange itself: its answer to the first request tells. */
export const exchange = $state({ sandbox: false, name: 'Bourse' });
