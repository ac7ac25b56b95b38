/** Brand is how the exchange names and shows itself; what it has not is empty. */
interface Brand {
  name: string;
  /** logo, terms, privacy and support are addresses, version that of the terms. */
  logo: string;
  terms: string;
  version: string;
  privacy: string;
  support: string;
}

/** exchange is what the pages know of the exchange itself: its page has the brand, its answer to the first request the rest. */
export const exchange = $state({ sandbox: false, ...brand() });

/** brand reads what the exchange put in the page. A page that Vite serves has its title alone. */
function brand(): Brand {
  const plain = { name: document.title, logo: '', terms: '', version: '', privacy: '', support: '' };
  const put = document.querySelector<HTMLMetaElement>('meta[name=brand]')?.content;
  return put ? { ...plain, ...(JSON.parse(put) as Partial<Brand>) } : plain;
}
