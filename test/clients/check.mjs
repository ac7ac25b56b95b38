// Calls of a stock client, one after the other. Each is printed, and a failed one ends the
// process with status 1 after the others.

const HOST = process.env.BOURSE_BINANCE; // http://HOST:PORT, from the root
export const base = HOST;
export const hmac = JSON.parse(process.env.BOURSE_HMAC);
export const ed25519 = { ...JSON.parse(process.env.BOURSE_ED25519), pem: process.env.BOURSE_PEM };

let failed = 0;

export function assert(holds, what) {
  if (!holds) throw new Error(`it does not hold: ${what}`);
}

export async function call(name, make, check = (r) => assert(r !== undefined, 'an answer')) {
  try {
    const answer = await make();
    check(answer);
    console.log(`ok    ${name}`);
    return answer;
  } catch (e) {
    failed++;
    console.log(`FAIL  ${name}: ${e?.message ?? JSON.stringify(e)}`);
    return undefined;
  }
}

// grown returns a list that messages are appended to, once as many as wanted have come; after 20 s
// those that did. Messages beyond them have a moment to come.
export async function grown(list, wanted) {
  for (let i = 0; i < 200 && list.length < wanted; i++) await pause(100);
  await pause(300);
  return list;
}

// note appends what a report tells. Trades of one order in a row count as one: how many makers it
// meets is the market's.
export function note(reports, execution) {
  if (execution !== 'TRADE' || reports.at(-1) !== 'TRADE') reports.push(execution);
}

const pause = (ms) => new Promise((done) => { setTimeout(done, ms); });

// refused checks that a call fails with a code of the interface.
export async function refused(name, code, make) {
  let answer;
  try {
    answer = await make();
  } catch (e) {
    const text = `${e?.message ?? ''} ${JSON.stringify(e, Object.getOwnPropertyNames(e ?? {}))}`;
    if (text.includes(String(code))) {
      console.log(`ok    ${name} is refused`);
      return;
    }
    answer = text;
  }
  failed++;
  console.log(`FAIL  ${name}: want ${code}, got ${JSON.stringify(answer)}`);
}

export function end() {
  process.exit(failed > 0 ? 1 : 0);
}
