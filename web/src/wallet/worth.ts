import { mulDiv, pow10 } from '../../client/decimal';
import { SCALE, units } from './amounts';

/** Priced is a market with its last price. */
export interface Priced {
  base: string;
  quote: string;
  price: string;
}

const ONE = pow10(SCALE);

/** Rates answers what one unit of an asset is worth in one reference, by the markets' last prices. */
export class Rates {
  readonly #rates = new Map<string, bigint>();

  constructor(markets: readonly Priced[], reference: string) {
    this.#rates.set(reference, ONE);
    let before = 0;
    while (this.#rates.size > before) {
      before = this.#rates.size;
      for (const market of markets) this.#reach(market);
    }
  }

  /** worth is null where no chain of markets leads from the asset to the reference. */
  worth(asset: string, amount: bigint): bigint | null {
    const rate = this.#rates.get(asset);
    return rate === undefined ? null : mulDiv(amount, rate, ONE);
  }

  #reach({ base, quote, price }: Priced): void {
    const each = units(price);
    const ofQuote = this.#rates.get(quote);
    const ofBase = this.#rates.get(base);
    if (each === 0n) return;
    if (ofQuote !== undefined && ofBase === undefined) this.#rates.set(base, mulDiv(each, ofQuote, ONE));
    if (ofBase !== undefined && ofQuote === undefined) this.#rates.set(quote, mulDiv(ofBase, ONE, each));
  }
}
