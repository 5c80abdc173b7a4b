import { useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { hrefOf } from '../lib/route.ts';
import { dataOf } from '../state/data.ts';
import { useSession } from '../state/session.ts';
import { useAction } from '../state/use-action.ts';
import { t } from '../strings.ts';
import { freshSecret } from './fresh-secret.ts';
import { newSecret } from './new-secret.ts';
import { switchEndpoint } from './switch-endpoint.ts';

const OVERLAP_S = 86_400;

/** What a viewer does with an endpoint; each reports its result. */
export function useEndpointCalls(endpointId: string, onDone: () => void) {
  const { client } = useSession();
  const { api } = client;
  const note = useSignal('');
  const { run, ...action } = useAction();
  const unanswered = useRef<string | undefined>(undefined);
  const params = { path: { endpoint_id: endpointId } };
  const during = (work: () => Promise<string>) => {
    note.value = '';
    run(async () => {
      note.value = await work();
      onDone();
    });
  };
  const test = () =>
    during(async () => {
      dataOf(await api.POST('/v1/vision/webhook-endpoints/{endpoint_id}/test', { params }));
      return t.webhooks.tested;
    });
  const toggle = (enabled: boolean) =>
    during(async () => {
      const isThere = await switchEndpoint(client, endpointId, enabled);
      return isThere ? '' : t.webhooks.missing;
    });
  const rotate = () =>
    during(async () => {
      // A repeat after a lost answer sends the same secret: a further one would end the old secret at once.
      const secret = (unanswered.current ??= newSecret());
      const body = { overlap_s: OVERLAP_S, secret };
      const made = dataOf(await api.POST('/v1/vision/webhook-endpoints/{endpoint_id}/rotate-secret', { params, body }));
      unanswered.current = undefined;
      freshSecret.value = { endpointId, secret, oldUntil: made.old_secret_expires_at };
      return '';
    });
  /** The clock of this computer may be wrong; the service's is in its answers. */
  const recover = (sinceMs: number) =>
    during(async () => {
      const body = { since_ms: sinceMs };
      const sent = dataOf(await api.POST('/v1/vision/webhook-endpoints/{endpoint_id}/recover', { params, body }));
      const more = sent.continue_from_ms === undefined ? '' : ` ${t.webhooks.recoveredPart}`;
      return t.webhooks.recovered(sent.deliveries) + more;
    });
  const remove = () =>
    during(async () => {
      const { error } = await api.DELETE('/v1/vision/webhook-endpoints/{endpoint_id}', { params });
      if (error) dataOf({ error });
      location.hash = hrefOf({ page: 'webhooks' });
      return '';
    });
  return { ...action, note: note.value, test, toggle, rotate, recover, remove };
}
