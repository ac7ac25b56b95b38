import { readFile, writeFile } from 'node:fs/promises';

/** Row is a line of the table: what is measured, its aim, what was measured, and what it is compared with. */
export interface Row {
  what: string;
  aim: string;
  measured: string;
  trial?: string;
  hollaex?: string;
}

const BEGIN = '<!-- measured by make web-bench -->';
const END = '<!-- end of what make web-bench measured -->';

/** rewrite puts the table and a line about the machine into a document, in place of those of an earlier run. */
export async function rewrite(path: string, rows: readonly Row[], machine: string): Promise<void> {
  const text = await readFile(path, 'utf8');
  const [before, rest] = text.split(BEGIN);
  const after = rest?.split(END)[1];
  if (before === undefined || after === undefined) throw new Error(`${path} has no place for the table`);

  const lines = rows.map((row) => `| ${row.what} | ${row.aim} | ${row.measured} | ${row.trial ?? ''} | ${row.hollaex ?? ''} |`);
  const table = ['| | aim | measured | trial | HollaEx |', '|---|---|---|---|---|', ...lines];
  await writeFile(path, `${before}${BEGIN}\n${machine}\n\n${table.join('\n')}\n${END}${after}`);
}
