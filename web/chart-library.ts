import { readFile } from 'node:fs/promises';
import type { Plugin } from 'vite';

const LIBRARY = 'klinecharts';
/** MORE is the module of the templates that the first picture of a chart lacks. */
const MORE = 'klinecharts/more';

/** Templates are what the library draws by name: indicators and drawings, by the names of its own variables. */
interface Templates {
  indicators: string[];
  drawings: string[];
}

/** Options say which templates come with the chart, and which with MORE. The library's others are left out. */
interface Options {
  first: Templates;
  more: Templates;
}

/** LISTS are the library's variables that hold all of its templates. */
const LISTS = { indicators: 'extensions$2', drawings: 'extensions' } as const;

/** Node is a part of the syntax tree. */
interface Node {
  type: string;
  start: number;
  end: number;
  [field: string]: unknown;
}

/**
 * chartLibrary parts the chart's library, which is one file with all of its templates, in two: what each chart needs, and
 * MORE. It fails when the library's file does not declare the variables that it names.
 */
export function chartLibrary({ first, more }: Options): Plugin {
  const moved = [...more.indicators, ...more.drawings];
  return {
    name: 'chart-library',
    enforce: 'pre', // before the resolver, which knows no MORE
    config: () => ({ optimizeDeps: { exclude: [LIBRARY] } }),
    resolveId: (source) => (source === MORE ? `\0${MORE}` : null),
    async load(id) {
      if (id !== `\0${MORE}`) return null;
      const source = await readFile((await this.resolve(LIBRARY))?.id ?? LIBRARY, 'utf8');
      const declared = declarations(this.parse(source) as unknown as Node);
      return [
        `import { ${needs(declared, moved).join(', ')} } from '${LIBRARY}';`,
        ...moved.map((name) => `var ${textOf(source, declared, name)};`),
        `export const moreIndicators = [${more.indicators.join(', ')}];`,
        `export const moreDrawings = [${more.drawings.join(', ')}];`,
      ].join('\n');
    },
    transform: {
      filter: { id: /klinecharts\/dist\/index\.esm\.js/ },
      handler(source) {
        const declared = declarations(this.parse(source) as unknown as Node);
        const code = (['indicators', 'drawings'] as const).reduce(
          (text, kind) => text.replace(textOf(source, declared, LISTS[kind]), () => `${LISTS[kind]} = [${first[kind].join(', ')}]`),
          source,
        );
        return { code: `${code}\nexport { ${needs(declared, moved).join(', ')} };\n`, map: null };
      },
    },
  };
}

/** declarations finds the variables and functions at the top of a file, by name. */
function declarations(file: Node): Map<string, Node> {
  const found = new Map<string, Node>();
  const add = (node: Node): void => void found.set((node['id'] as { name: string }).name, node);
  for (const node of file['body'] as Node[]) {
    if (node.type === 'VariableDeclaration') (node['declarations'] as Node[]).forEach(add);
    if (node.type === 'FunctionDeclaration') add(node);
  }
  return found;
}

/** needs lists what some of the declarations use of the others. */
function needs(declared: Map<string, Node>, of: readonly string[]): string[] {
  const used = new Set<string>();
  for (const name of of) addNames(declared.get(name), used);
  return [...used].filter((name) => declared.has(name) && !of.includes(name)).sort();
}

/** addNames adds all identifiers in a part of the tree to found. */
function addNames(part: unknown, found: Set<string>): void {
  if (Array.isArray(part)) part.forEach((one) => addNames(one, found));
  else if (part !== null && typeof part === 'object') {
    const node = part as Node;
    if (node.type === 'Identifier') found.add(node['name'] as string);
    Object.values(node).forEach((field) => addNames(field, found));
  }
}

function textOf(source: string, declared: Map<string, Node>, name: string): string {
  const node = declared.get(name);
  if (!node) throw new Error(`${LIBRARY} declares no ${name}`);
  return source.slice(node.start, node.end);
}
