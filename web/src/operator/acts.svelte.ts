import type { Method } from '../../client/rest';
import type { Key } from '../texts/index.svelte';
import type { Role } from './desk.svelte';
import type { Fact, Row } from './rows';

/** Entry is what an act asks for, beside its reason. */
export interface Entry {
  /** name is that of the body's member. */
  name: string;
  label: Key;
  /** kind of the member: a text, a whole number, a list of words, or one of choices, whose texts are the group's. */
  kind?: 'text' | 'count' | 'several' | 'choice';
  choices?: readonly string[];
  group?: string;
  hint?: Key;
  optional?: boolean;
}

/** Act is an endpoint that changes something, and the form that orders it. A new endpoint is a new act in a list. */
export interface Act {
  /** text names the button that offers it, and heads its form. */
  text: Key;
  /** role is the least that is offered it; the exchange asks for more where the command needs more. */
  role: Role;
  method: Method;
  /** path has members of the row in place of its {names}. */
  path: string;
  entries?: readonly Entry[];
  /** fixed members of the body are always the same; copied ones are the row's. */
  fixed?: Row;
  copied?: readonly string[];
  /** unreasoned acts are those on acts: the reason is the act's own. */
  unreasoned?: boolean;
  /** named is the member of the row that has to be typed, before what is hard to take back. */
  named?: string;
  /** command is the one of `bourse admin` that does the same, as commandOf takes it. */
  command?: string;
  /** once are members of the answer that are shown this once. */
  once?: readonly string[];
  /** fits tells the rows that it can be done to. */
  fits?: (row: Row) => boolean;
  look?: 'primary' | 'danger';
}

/** Ordered is an act that somebody is about to order, on a row. */
export interface Ordered {
  act: Act;
  row: Row;
  /** subject names the row; empty for acts on none. */
  subject: string;
  /** facts are those of the row's list. The form repeats those that are sure, and says what becomes of those that the act changes. */
  facts: readonly Fact[];
  /** done is told once the exchange has answered, whatever it answered. */
  done: () => void;
}

/** ordering is the act whose form is open. */
export const ordering: { now: Ordered | null } = $state({ now: null });

/** order opens the form of an act. */
export function order(ordered: Ordered): void {
  ordering.now = ordered;
}
