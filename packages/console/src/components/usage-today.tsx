import type { Usage } from '@vision/client';
import type { JSX } from 'preact';
import { inUtc, moment } from '../lib/format.ts';
import { useSession } from '../state/session.ts';
import { useLoaded } from '../state/use-loaded.ts';
import { t } from '../strings.ts';
import { TroubleNotice } from './notice.tsx';

const EVERY_MS = 15_000;

/** The units that are left of the day. */
export function UsageToday(): JSX.Element {
  const { client } = useSession();
  const { value, trouble } = useLoaded({ key: 'usage', load: () => client.usage(), everyMs: () => EVERY_MS });
  const usage = value.value;
  return (
    <section aria-labelledby="left">
      <h2 id="left">{t.start.left}</h2>
      <TroubleNotice trouble={trouble.value} />
      <dl class="figures">
        <Left name={t.start.videoUnits} usage={usage?.video} />
        <Left name={t.start.imageUnits} usage={usage?.image} />
      </dl>
      <p class="dim" title={usage ? inUtc(usage.video.resets_at) : undefined}>
        {usage ? t.start.resets(moment(usage.video.resets_at)) : t.loading}
      </p>
    </section>
  );
}

function Left({ name, usage }: { name: string; usage: Usage['video'] | undefined }): JSX.Element {
  return (
    <div>
      <dt>{name}</dt>
      <dd>
        {usage ? t.start.of(usage.remaining, usage.limit) : '–'}
        <meter aria-label={name} min={0} max={Math.max(1, usage?.limit ?? 1)} value={usage?.remaining ?? 0} />
      </dd>
    </div>
  );
}
