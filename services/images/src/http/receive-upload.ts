import type { IncomingMessage } from 'node:http';
import type { BodyLimits } from '@vision/shared/http/body-guard';
import { readForm } from '@vision/shared/http/multipart/read-form';
import type { SpoolSession } from '../clients/spool.ts';
import type { Admission } from '../use-cases/admit-image-call.ts';
import type { ReceivedImage } from '../use-cases/process-image.ts';
import { imageForm } from './image-form.ts';

export interface Upload {
  images: ReceivedImage[];
  /** undefined when the form does not say. */
  sceneCode: string | undefined;
}

export interface ReceiveOptions {
  session: SpoolSession;
  limits: BodyLimits;
  admission: Admission;
}

/**
 * Reads the whole body, or refuses it as early as its fault shows. Whether new work is taken is found out at the same time,
 * and that answer comes before any fault of the body.
 */
export async function receiveUpload(
  req: IncomingMessage,
  { session, limits, admission }: ReceiveOptions,
): Promise<Upload> {
  const refused = new AbortController();
  admission.refused.catch((refusal: unknown) => refused.abort(refusal));
  try {
    const { files, values } = await readForm(req, imageForm(session, limits), refused.signal);
    return { images: files, sceneCode: values.get('scene_code') };
  } catch (error) {
    await admission.decided();
    throw error;
  }
}
