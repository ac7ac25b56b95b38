import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { keep, keepList, recall } from './keep';

const stored = (): unknown => recall('localStorage', 'list', null);

beforeEach(() => {
  const texts = new Map<string, string>();
  vi.stubGlobal('localStorage', {
    getItem: (name: string) => texts.get(name) ?? null,
    setItem: (name: string, text: string) => void texts.set(name, text),
  });
});

afterEach(() => void vi.unstubAllGlobals());

it('keeps what each of two tabs adds', () => {
  const [first, second] = [['a'], ['a']];
  keep('localStorage', 'list', ['a']);
  expect(keepList('list', first, [...first, 'b'])).toEqual(['a', 'b']);
  expect(keepList('list', second, [...second, 'c'])).toEqual(['a', 'b', 'c']);
  expect(stored()).toEqual(['a', 'b', 'c']);
});

it('brings nothing back that another tab removed', () => {
  keep('localStorage', 'list', ['a', 'b']);
  keepList('list', ['a', 'b'], ['b']);
  keepList('list', ['a', 'b'], ['a', 'b', 'c']);
  expect(stored()).toEqual(['b', 'c']);
  keepList('list', ['a', 'b', 'c'], ['a', 'b']);
  expect(stored()).toEqual(['b']);
});

it('compares entries by what they hold', () => {
  const line = (value: number): object => ({ name: 'segment', points: [{ value }] });
  keep('localStorage', 'list', [line(1), line(2)]);
  keepList('list', [line(1)], [line(3)]);
  expect(stored()).toEqual([line(2), line(3)]);
});

it('begins with its own list where none is stored, or something else', () => {
  expect(keepList('list', ['MA', 'VOL'], ['MA'])).toEqual(['MA']);
  keep('localStorage', 'list', { no: 'list' });
  expect(keepList('list', ['MA'], ['MA', 'RSI'])).toEqual(['MA', 'RSI']);
});

it('answers the list where the browser refuses storage', () => {
  vi.stubGlobal('localStorage', undefined);
  expect(keepList('list', ['a'], ['b'])).toEqual(['b']);
});
