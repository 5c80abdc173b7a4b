import { randomUUID } from 'node:crypto';
import { form, scene, system } from '../test/support/system.ts';

export interface Picture {
  bytes: Uint8Array<ArrayBuffer>;
  type: string;
}

/** The body of an image call, made once, so that making it is no part of what is measured. */
export interface EncodedForm {
  type: string;
  bytes: ArrayBuffer;
}

export async function encodeForm(pictures: Picture[]): Promise<EncodedForm> {
  const files = pictures.map(({ bytes, type }, index) => ({ name: 'files', value: bytes, type, filename: `${index}` }));
  const encoded = new Response(form(scene('person_vehicle'), ...files));
  return { type: encoded.headers.get('content-type') ?? '', bytes: await encoded.arrayBuffer() };
}

interface Sender {
  key: string;
  /** The system that is asked; the one of the environment when left out. */
  baseUrl?: string;
}

/** One image call; throws unless it succeeded. */
export async function sendForm({ key, baseUrl = system.baseUrl }: Sender, { type, bytes }: EncodedForm): Promise<void> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': type, 'idempotency-key': randomUUID() };
  const answer = await fetch(`${baseUrl}/v1/vision/image-detections`, { method: 'POST', headers, body: bytes });
  const text = await answer.text();
  if (answer.status !== 201) throw new Error(`image call: ${answer.status} ${text.slice(0, 300)}`);
}
