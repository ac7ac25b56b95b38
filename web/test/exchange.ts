import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';

const binary = process.env['BOURSE_BINARY'] ?? resolve(import.meta.dirname, '../../bin/bourse');

export interface Letter {
  to: string;
  subject: string;
  text: string;
  code: string | null;
  time: number;
}

/** Exchange is a sandbox of the real binary with a data directory of its own. Blocks come on demand. */
export class Exchange {
  readonly url: string;
  /** desk is the URL of operators, where the flags have one; empty elsewhere. It changes with each start if its port is 0. */
  desk: string;
  readonly #data: string;
  readonly #flags: string[];
  #process: ChildProcess;

  private constructor({ url, desk, child }: Served, data: string, flags: string[]) {
    this.url = url;
    this.desk = desk;
    this.#data = data;
    this.#flags = flags;
    this.#process = child;
  }

  /** start resolves once the exchange serves. */
  static async start(...flags: string[]): Promise<Exchange> {
    const data = await mkdtemp(join(tmpdir(), 'bourse-web-'));
    return new Exchange(await serve(data, '127.0.0.1:0', flags), data, flags);
  }

  /** kill ends the exchange as a power cut does: nothing that it had not written is there afterwards. */
  async kill(): Promise<void> {
    const ended = new Promise((resolve) => this.#process.once('exit', resolve));
    this.#process.kill('SIGKILL');
    await ended;
  }

  /** again starts a killed exchange on its data and its address. */
  async again(): Promise<void> {
    ({ child: this.#process, desk: this.desk } = await serve(this.#data, new URL(this.url).host, this.#flags));
  }

  /** admin runs an admin command and answers what it prints. */
  async admin(...args: string[]): Promise<string> {
    const { stdout } = await promisify(execFile)(binary, ['admin', `--data=${this.#data}`, ...args]);
    return stdout;
  }

  /** code answers the code of the newest letter to an address whose text has all the words. */
  async code(to: string, ...words: string[]): Promise<string> {
    const letter = (await this.letters(to)).find((one) => one.code !== null && words.every((word) => one.text.includes(word)));
    if (!letter?.code) throw new Error(`There is no letter to ${to} with a code and ${words.join(', ')}`);
    return letter.code;
  }

  /** letters answers the letters to an address, newest first. */
  async letters(to: string): Promise<Letter[]> {
    const answer = await fetch(`${this.url}/dev/mail?to=${encodeURIComponent(to)}`, { headers: { Accept: 'application/json' } });
    if (!answer.ok) throw new Error(`/dev/mail answered ${answer.status}: ${await answer.text()}`);
    const letters = (await answer.json()) as Letter[];
    return letters.sort((a, b) => b.time - a.time);
  }

  /** stop ends the exchange and removes its data. */
  async stop(): Promise<void> {
    const ended = new Promise((resolve) => this.#process.once('exit', resolve));
    if (this.#process.exitCode === null && this.#process.kill('SIGTERM')) await ended;
    await rm(this.#data, { recursive: true, force: true });
  }
}

interface Served {
  url: string;
  desk: string;
  child: ChildProcess;
}

async function serve(data: string, listen: string, flags: string[]): Promise<Served> {
  const args = ['dev', '--catalogue=demo', '--block-time=0', `--listen=${listen}`, `--data=${data}`, ...flags];
  const child = spawn(binary, args, { stdio: ['ignore', 'ignore', 'pipe'] });
  const end = (): boolean => child.kill();
  process.once('exit', end);
  child.once('exit', () => process.off('exit', end));
  const log: string[] = [];
  let url = '';
  let desk = '';

  await new Promise<void>((greeted, failed) => {
    createInterface({ input: child.stderr }).on('line', (line) => {
      log.push(line);
      const port = /serves a sandbox at http:\/\/[^:]+:(\d+)/.exec(line)?.[1];
      if (port) url = `http://127.0.0.1:${port}`;
      desk = /^Operators work at (http:\S+)\/operator\.$/.exec(line)?.[1] ?? desk;
      if (line.startsWith('In another terminal')) greeted();
    });
    child.once('error', failed);
    child.once('exit', (code) => failed(new Error(`bourse dev ended with ${String(code)}:\n${log.join('\n')}`)));
  });
  return { url, desk, child };
}
