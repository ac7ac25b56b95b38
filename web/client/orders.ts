// An account's open orders, kept from the messages of myOrders.

import type { OrderType, Side, TimeInForce } from './estimate';
import type { Message } from './stream';

/** OpenOrder is an order as the exchange writes it. A field that its type does not have is absent. */
export interface OpenOrder {
  obid: number;
  pair: string;
  /** time is in seconds. */
  time: number;
  side: Side;
  type: OrderType;
  time_in_force: TimeInForce;
  price?: string;
  stop?: string;
  amount?: string;
  total?: string;
  /** filled is absent while the order waits for its stop. */
  filled?: string;
  /** prevented is what self-trade prevention took; absent if that is nothing. */
  prevented?: string;
  client_id?: string;
  list_id?: number;
}

/** OrderEvent is a message of myOrders. */
export interface OrderEvent extends Partial<OpenOrder> {
  event: 'orderAccepted' | 'orderRejected' | 'orderUpdate';
  status?: 'FILLED' | 'CANCELED' | 'KILLED';
  triggered?: boolean;
  amended?: boolean;
  left?: string;
  reason?: string;
}

/** OpenOrders are the open orders of an account. */
export class OpenOrders {
  readonly #orders = new Map<number, OpenOrder>();

  /** apply takes a message. It returns the event of a message that is one, else null. */
  apply(message: Message): OrderEvent | null {
    if (message.class === 'reset') {
      this.#replace(message.state as { orders: (Omit<OpenOrder, 'time'> & { time: string })[] });
      return null;
    }
    const event = message as unknown as OrderEvent;
    if (event.obid !== undefined) this.#take(event.obid, event);
    return event;
  }

  /** list returns the orders, the newest first. */
  list(): OpenOrder[] {
    return [...this.#orders.values()].sort((a, b) => b.obid - a.obid);
  }

  /** clear forgets all orders: the account is another one. */
  clear(): void {
    this.#orders.clear();
  }

  #replace({ orders }: { orders: (Omit<OpenOrder, 'time'> & { time: string })[] }): void {
    this.#orders.clear();
    for (const order of orders) this.#orders.set(order.obid, { ...order, time: wholeSeconds(order.time) });
  }

  #take(obid: number, event: OrderEvent): void {
    if (event.event === 'orderAccepted') {
      this.#orders.set(obid, pick(event));
      return;
    }
    const order = this.#orders.get(obid);
    if (!order) return;
    if (event.status !== undefined) {
      this.#orders.delete(obid);
      return;
    }
    const { price, amount, filled, prevented } = event;
    this.#orders.set(obid, {
      ...order,
      ...(price !== undefined && { price }),
      ...(amount !== undefined && { amount }),
      ...(filled !== undefined && { filled }),
      ...(prevented !== undefined && { prevented }),
    });
  }
}

/** wholeSeconds reads the time of an answer of V1, which has six decimals, as whole seconds. */
export function wholeSeconds(time: string): number {
  const [seconds = '0'] = time.split('.');
  return JSON.parse(seconds) as number;
}

function pick(event: OrderEvent): OpenOrder {
  const { obid = 0, pair = '', time = 0, side = 'BUY', type = 'LIMIT', time_in_force = 'GTC' } = event;
  const { price, stop, amount, total, filled, prevented, client_id, list_id } = event;
  return {
    obid, pair, time, side, type, time_in_force,
    ...(price !== undefined && { price }),
    ...(stop !== undefined && { stop }),
    ...(amount !== undefined && { amount }),
    ...(total !== undefined && { total }),
    ...(filled !== undefined && { filled }),
    ...(prevented !== undefined && { prevented }),
    ...(client_id !== undefined && { client_id }),
    ...(list_id !== undefined && { list_id }),
  };
}
