/** Where the system is and how to get a key; written by `make up` to `.local/env`. */
export interface Access {
  baseUrl: string;
  adminUrl: string;
  adminToken: string;
}

/** Makes an API key through the admin API, as an operator would with `visionctl keys create`. */
export async function newKey({ adminUrl, adminToken }: Access, name: string): Promise<string> {
  const reply = await fetch(`${adminUrl}/admin/v1/keys`, {
    method: 'POST',
    headers: { authorization: `Bearer ${adminToken}`, 'content-type': 'application/json' },
    body: JSON.stringify({ name }),
  });
  if (!reply.ok) throw new Error(`no key was created: ${reply.status} ${await reply.text()}`);
  return ((await reply.json()) as { key: string }).key;
}
