import type { Target } from './attack.ts';
import { each, invalid, said } from './say.ts';

export const INVALID = invalid('stream_url_invalid');
export const UNREACHABLE = invalid('stream_unreachable');

/** What comes of creates with these addresses. */
export async function created({ caller }: Target, urls: readonly string[]): Promise<string> {
  const own = await caller();
  const answers = await Promise.all(urls.map((url) => own.createStream({ scene_code: 'ship', stream_url: url })));
  return each(answers.map(said));
}
