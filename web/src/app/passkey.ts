/** Asked is what the exchange wants a passkey to sign, and Wanted what it wants to know of a new one, both as JSON. */
export type Asked = PublicKeyCredentialRequestOptionsJSON;
export type Wanted = PublicKeyCredentialCreationOptionsJSON;

/** hasPasskeys tells whether this browser has passkeys at this address: not at an IP address, for example. */
export function hasPasskeys(): boolean {
  return 'PublicKeyCredential' in globalThis && 'parseCreationOptionsFromJSON' in PublicKeyCredential;
}

/** signed answers what a passkey of this browser signs; null where the person called it off. */
export async function signed(asked: Asked): Promise<unknown> {
  return json(() => navigator.credentials.get({ publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(asked) }));
}

/** made answers a new passkey; null where the person called it off. */
export async function made(wanted: Wanted): Promise<unknown> {
  return json(() => navigator.credentials.create({ publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(wanted) }));
}

async function json(ask: () => Promise<Credential | null>): Promise<unknown> {
  try {
    const credential = await ask();
    return credential instanceof PublicKeyCredential ? credential.toJSON() : null;
  } catch (cause) {
    if (cause instanceof DOMException) return null;
    throw cause;
  }
}
