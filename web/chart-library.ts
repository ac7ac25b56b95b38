import { readFile } from 'node:fs/promises';
import { parseAst, type Plugin } from 'vite';

const LIBRARY = 'klinecharts';
/** MORE is the module of the templates that the first picture of a chart lacks. */
const MORE = 'klinecharts/more';

/** Templates are what the library draws by name: indicators and drawings, by the names of its own variables. */
interface Templates {
  indicators: string[];
  drawings: string[];
}

/** Options say which parts of the library come with the chart, and which with MORE. Its others are left out. */
interface Options {
  first: Templates & { figures: string[] };
  more: Templates;
  /** off are methods, as Class.method, that draw what the chart's styles turn off, and the body that each gets instead. */
  off: Record<string, string>;
  /** instead are texts of the library that occur once, and what replaces each. */
  instead: Record<string, string>;
  /** callers are the files that call the library. Methods whose names neither they nor the library use are left out. */
  callers: string[];
}

/** LISTS are the library's variables that hold all of its templates. */
const LISTS = { indicators: 'extensions$2', figures: 'extensions$1', drawings: 'extensions' } as const;

/** Node is a part of the syntax tree. */
interface Node {
  type: string;
  start: number;
  end: number;
  [field: string]: unknown;
}

/** Method is an assignment of a function to the prototype of a class. */
interface Method {
  of: string;
  name: string;
  assignment: Node;
  body: Node;
}

/** Edit replaces a part of a text. */
interface Edit {
  at: Node;
  text: string;
}

/**
 * chartLibrary parts the chart's library, which is one file with all of its templates, in two: what each chart needs, and
 * MORE. It fails when the library's file does not declare the variables and methods that it names.
 */
export function chartLibrary({ first, more, off, instead, callers }: Options): Plugin {
  const moved = [...more.indicators, ...more.drawings];

  /** trim answers the library without the methods that no chart calls. */
  async function trim(source: string): Promise<string> {
    const called = await Promise.all(callers.map((file) => readFile(new URL(file, import.meta.url), 'utf8')));
    return withShortNames(withoutUncalled(withoutBodies(withTexts(source, instead), off), called.join('\n')));
  }

  // Both modules are made of one trimmed text, whose short names they share.
  let trimmed: Promise<string> | undefined;

  return {
    name: 'chart-library',
    enforce: 'pre', // before the resolver, which knows no MORE
    config: () => ({ optimizeDeps: { exclude: [LIBRARY] } }),
    resolveId: (source) => (source === MORE ? `\0${MORE}` : null),
    async load(id) {
      if (id !== `\0${MORE}`) return null;
      const whole = await readFile((await this.resolve(LIBRARY))?.id ?? LIBRARY, 'utf8');
      const source = await (trimmed ??= trim(whole));
      const declared = declarations(parse(source));
      return [
        `import { ${needs(declared, moved).join(', ')} } from '${LIBRARY}';`,
        ...moved.map((name) => `var ${textOf(source, declared, name)};`),
        `export const moreIndicators = [${more.indicators.join(', ')}];`,
        `export const moreDrawings = [${more.drawings.join(', ')}];`,
      ].join('\n');
    },
    transform: {
      filter: { id: /klinecharts\/dist\/index\.esm\.js/ },
      async handler(whole) {
        const source = await (trimmed ??= trim(whole));
        const declared = declarations(parse(source));
        const code = (['indicators', 'figures', 'drawings'] as const).reduce(
          (text, kind) => text.replace(textOf(source, declared, LISTS[kind]), () => `${LISTS[kind]} = [${first[kind].join(', ')}]`),
          source,
        );
        return { code: `${code}\nexport { ${needs(declared, moved).join(', ')} };\n`, map: null };
      },
    },
  };
}

/** withTexts replaces texts that occur once. */
function withTexts(source: string, texts: Record<string, string>): string {
  return Object.entries(texts).reduce((text, [from, to]) => {
    if (text.split(from).length !== 2) throw new Error(`${LIBRARY} does not have ${from} once`);
    return text.replace(from, () => to);
  }, source);
}

/** withoutBodies replaces the bodies of methods. */
function withoutBodies(source: string, bodies: Record<string, string>): string {
  const left = new Map(Object.entries(bodies));
  const edits: Edit[] = [];
  for (const { of, name, body } of methods(parse(source))) {
    const text = left.get(`${of}.${name}`);
    if (text === undefined) continue;
    left.delete(`${of}.${name}`);
    edits.push({ at: body, text: `{ ${text} }` });
  }
  if (left.size > 0) throw new Error(`${LIBRARY} has no ${[...left.keys()].join(', ')}`);
  return edited(source, edits);
}

/**
 * withoutUncalled removes methods whose names occur neither in the callers nor in what remains of the library, as a name or
 * as a word of a string. Two methods of one name stay or go together, so that it needs no types.
 */
function withoutUncalled(source: string, callers: string): string {
  const file = parse(source);
  const uncalled = new Map(methods(file).map((method) => [method.assignment, method]));
  const names = new Set(callers.match(/\w+/g));
  const add = (part: unknown): void =>
    walk(part, (node) => {
      if (uncalled.has(node)) return false;
      for (const word of wordsOf(node)) names.add(word);
      return true;
    });

  add(file);
  for (let found = true; found; ) {
    found = false;
    for (const [assignment, method] of uncalled) {
      if (!names.has(method.name)) continue;
      uncalled.delete(assignment);
      add(assignment);
      found = true;
    }
  }
  return edited(source, [...uncalled.keys()].map((at) => ({ at, text: '' })));
}

/** withShortNames renames fields and methods that begin with _, which are private to the library. */
function withShortNames(source: string): string {
  const fields = new Map<string, Node[]>();
  const others = new Set<string>();
  const inFields = new Set<Node>();
  walk(parse(source), (node) => {
    const field = node.type === 'MemberExpression' && node['computed'] === false ? (node['property'] as Node) : null;
    const name = field?.['name'] as string | undefined;
    if (field && name?.startsWith('_')) {
      inFields.add(field);
      fields.set(name, [...(fields.get(name) ?? []), field]);
    } else if (!inFields.has(node)) {
      for (const word of wordsOf(node)) others.add(word);
    }
    return true;
  });

  // A name that also occurs otherwise, as the key of a literal or in a string, stays.
  const frequent = [...fields].filter(([name]) => !others.has(name)).sort(([, a], [, b]) => b.length - a.length);
  return edited(source, frequent.flatMap(([, nodes], i) => nodes.map((at) => ({ at, text: `_${i.toString(36)}` }))));
}

/** methods finds all methods of classes, which the library's file has as functions of prototypes. */
function methods(file: Node): Method[] {
  const found: Method[] = [];
  walk(file, (node) => {
    const [left, right] = node.type === 'AssignmentExpression' ? [node['left'] as Node, node['right'] as Node] : [];
    const object = left?.['object'] as Node | undefined;
    if (right?.type === 'FunctionExpression' && left?.['computed'] === false && nameOf(object, 'property') === 'prototype') {
      found.push({
        of: nameOf(object, 'object') ?? '', name: nameOf(left, 'property') ?? '', assignment: node, body: right['body'] as Node,
      });
    }
    return true;
  });
  return found;
}

function nameOf(node: Node | undefined, field: string): string | undefined {
  return (node?.[field] as Node | undefined)?.['name'] as string | undefined;
}

/** wordsOf lists the name that a node is, or the words of the string. */
function wordsOf(node: Node): string[] {
  if (node.type === 'Identifier') return [node['name'] as string];
  const value = node.type === 'Literal' ? node['value'] : undefined;
  return typeof value === 'string' ? (value.match(/\w+/g) ?? []) : [];
}

/** walk visits a part of the tree, and what is in it where visit answers true. */
function walk(part: unknown, visit: (node: Node) => boolean): void {
  if (Array.isArray(part)) part.forEach((one) => walk(one, visit));
  else if (part !== null && typeof part === 'object') {
    if ('type' in part && !visit(part as Node)) return;
    Object.values(part).forEach((field) => walk(field, visit));
  }
}

/** edited applies edits, none of which overlap. */
function edited(source: string, edits: Edit[]): string {
  let [text, from] = ['', 0];
  for (const { at, text: replacement } of edits.sort((a, b) => a.at.start - b.at.start)) {
    text += source.slice(from, at.start) + replacement;
    from = at.end;
  }
  return text + source.slice(from);
}

function parse(source: string): Node {
  return parseAst(source) as unknown as Node;
}

/** declarations finds the variables and functions at the top of a file, by name. */
function declarations(file: Node): Map<string, Node> {
  const found = new Map<string, Node>();
  const add = (node: Node): void => void found.set(nameOf(node, 'id') ?? '', node);
  for (const node of file['body'] as Node[]) {
    if (node.type === 'VariableDeclaration') (node['declarations'] as Node[]).forEach(add);
    if (node.type === 'FunctionDeclaration') add(node);
  }
  return found;
}

/** needs lists what some of the declarations use of the others. */
function needs(declared: Map<string, Node>, of: readonly string[]): string[] {
  const used = new Set<string>();
  for (const name of of) {
    walk(declared.get(name), (node) => {
      if (node.type === 'Identifier') used.add(node['name'] as string);
      return true;
    });
  }
  return [...used].filter((name) => declared.has(name) && !of.includes(name)).sort();
}

function textOf(source: string, declared: Map<string, Node>, name: string): string {
  const node = declared.get(name);
  if (!node) throw new Error(`${LIBRARY} declares no ${name}`);
  return source.slice(node.start, node.end);
}
