import { useSignal } from '@preact/signals';
import { VisionError } from '@vision/client';
import type { JSX } from 'preact';
import { ActionButton } from '../components/action-button.tsx';
import { OneOf } from '../components/choices.tsx';
import { TextField } from '../components/fields.tsx';
import { TroubleNotice } from '../components/notice.tsx';
import { hrefOf } from '../lib/route.ts';
import { dataOf } from '../state/data.ts';
import { useSession } from '../state/session.ts';
import { useAction } from '../state/use-action.ts';
import { t } from '../strings.ts';
import { endpointNow } from './endpoint-now.ts';
import { typesOf } from './event-sets.ts';
import type { EventSet } from './event-sets.ts';
import { freshSecret } from './fresh-secret.ts';
import { newSecret } from './new-secret.ts';

const NAME = '[a-z0-9][a-z0-9_\\-]{0,63}';
const choices = (['all', 'alarms', 'tasks'] as const).map((value) => ({ value, text: t.webhooks.sets[value] }));

interface NewEndpointProps {
  names: readonly string[];
  /** The names are not the newest. */
  onTaken: () => void;
}

/** Creates an endpoint; its page then shows the secret. */
export function NewEndpoint(props: NewEndpointProps): JSX.Element {
  const { form, change, isBusy, trouble, isTaken, create } = useNewEndpoint(props);
  const { name, url, set } = form;
  return (
    <section class="panel" aria-labelledby="new-endpoint">
      <h2 id="new-endpoint">{t.webhooks.addTitle}</h2>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          create();
        }}
      >
        <TextField
          name={t.webhooks.newName}
          value={name}
          hint={isTaken ? t.webhooks.nameTaken : t.webhooks.newNameHint}
          isRequired
          pattern={NAME}
          maxLength={64}
          onInput={(next) => change({ name: next })}
        />
        <TextField
          name={t.webhooks.url}
          value={url}
          hint={t.webhooks.urlHint}
          isRequired
          maxLength={2048}
          onInput={(next) => change({ url: next.trim() })}
        />
        <OneOf<EventSet>
          name={t.webhooks.events}
          options={choices}
          value={set}
          onChange={(next) => change({ set: next })}
        />
        <TroubleNotice trouble={trouble} />
        <p>
          <ActionButton isSubmit class="primary" isBusy={isBusy} isOff={isTaken || name === '' || url === ''}>
            {isBusy ? t.webhooks.creating : t.webhooks.create}
          </ActionButton>
        </p>
      </form>
    </section>
  );
}

function useNewEndpoint({ names, onTaken }: NewEndpointProps) {
  const { client } = useSession();
  const form = useSignal<{ name: string; url: string; set: EventSet }>({ name: '', url: '', set: 'all' });
  const { run, isBusy, trouble, forgive } = useAction();
  // A request that may have arrived: its repeat is the same request, and replaces no endpoint of somebody else.
  const sent = useSignal<{ name: string; secret: string } | undefined>(undefined);
  const { name, url, set } = form.value;
  const send = async () => {
    if (sent.value?.name !== name) {
      if (await endpointNow(client, name)) {
        onTaken();
        return;
      }
      sent.value = { name, secret: newSecret() };
    }
    const { secret } = sent.value;
    const types = typesOf(set);
    const body = { url, enabled: true, secret, ...(types ? { event_types: types } : {}) };
    const params = { path: { endpoint_id: name } };
    dataOf(await client.api.PUT('/v1/vision/webhook-endpoints/{endpoint_id}', { params, body }));
    freshSecret.value = { endpointId: name, secret };
    location.hash = hrefOf({ page: 'webhook', name });
  };
  const create = () =>
    run(() =>
      send().catch((error: unknown) => {
        if (error instanceof VisionError && error.problem.status < 500) sent.value = undefined;
        throw error;
      }),
    );
  return {
    form: form.value,
    change: (changes: Partial<typeof form.value>) => {
      form.value = { ...form.value, ...changes };
      forgive();
    },
    isBusy,
    trouble,
    // The same request would replace the endpoint that is there.
    isTaken: names.includes(name) && sent.value?.name !== name,
    create,
  };
}
