import type { JSX } from 'preact';
import { inUtc, moment } from '../lib/format.ts';
import { t } from '../strings.ts';
import type { Endpoint } from './event-sets.ts';

/** Whether webhooks are sent, and since when that fails. */
export function EndpointState({ endpoint }: { endpoint: Endpoint }): JSX.Element {
  const { enabled, failing_since: failingSince, disabled_reason: reason } = endpoint;
  if (!enabled) return <span class={`status ${reason === 'requested' ? 'ended' : 'fault'}`}>{t.webhooks.off}</span>;
  if (failingSince === undefined) return <span class="status active">{t.webhooks.on}</span>;
  return (
    <span class="status fault" title={inUtc(failingSince)}>
      {t.webhooks.failing(moment(failingSince))}
    </span>
  );
}
