import { useSignal } from '@preact/signals';
import type { components } from '@vision/client';
import type { JSX } from 'preact';
import { ActionButton } from '../components/action-button.tsx';
import { Check, Choice, SceneChoice, TextField } from '../components/fields.tsx';
import { TroubleNotice } from '../components/notice.tsx';
import { Page } from '../components/page.tsx';
import { ProbeResult } from '../components/probe-result.tsx';
import { ScopeNotice } from '../components/scope-notice.tsx';
import { hrefOf } from '../lib/route.ts';
import { dataOf } from '../state/data.ts';
import { newRequestKey } from '../state/request-key.ts';
import { firstScene } from '../state/scenes.ts';
import { missingScopes, useSession } from '../state/session.ts';
import { useAction } from '../state/use-action.ts';
import { t } from '../strings.ts';

const { usual, hour, night, day } = t.newStream.patiences;
/** In seconds, as the API takes them. */
const PATIENCES = [
  { value: '', text: usual },
  { value: '3600', text: hour },
  { value: '43200', text: night },
  { value: '86400', text: day },
];
const REF = '[A-Za-z0-9._:\\-]{1,64}';

/** Tests the address of a stream, and creates a task for it. */
export function NewStreamPage(): JSX.Element {
  const state = useNewStream();
  const mayCreate = !missingScopes.value.has('create');
  return (
    <Page title={t.newStream.title} lead={t.newStream.cost}>
      <ScopeNotice scope="create" />
      <StreamForm state={state} mayCreate={mayCreate} />
      {state.probe.value ? <ProbeResult probe={state.probe.value} /> : null}
    </Page>
  );
}

interface StreamFormProps {
  state: ReturnType<typeof useNewStream>;
  mayCreate: boolean;
}

function StreamForm({ state, mayCreate }: StreamFormProps): JSX.Element {
  const { form, busy, trouble, change, test, create } = state;
  const { url, scene, name, patience, hasSnapshots } = form.value;
  const isOff = url === '' || scene === '' || !mayCreate;
  const isBusy = busy !== undefined;
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        create();
      }}
    >
      <TextField
        name={t.newStream.url}
        value={url}
        hint={t.newStream.urlHint}
        isRequired
        onInput={(next) => change({ url: next.trim() })}
      />
      <SceneChoice name={t.newStream.scene} value={scene} onChange={(next) => change({ scene: next })} />
      <TextField
        name={t.newStream.name}
        value={name}
        hint={t.newStream.nameHint}
        pattern={REF}
        maxLength={64}
        onInput={(next) => change({ name: next })}
      />
      <Choice
        name={t.newStream.patience}
        value={patience}
        options={PATIENCES}
        hint={t.newStream.patienceHint}
        onChange={(next) => change({ patience: next })}
      />
      <Check isChecked={hasSnapshots} onChange={(next) => change({ hasSnapshots: next })}>
        {t.newStream.snapshots}
      </Check>
      <div class="row">
        <ActionButton isBusy={isBusy} isOff={isOff} onClick={test}>
          {busy === 'probe' ? t.newStream.probing : t.newStream.probe}
        </ActionButton>
        <ActionButton isSubmit class="primary" isBusy={isBusy} isOff={isOff}>
          {busy === 'create' ? t.newStream.creating : t.newStream.create}
        </ActionButton>
      </div>
      {mayCreate ? <TroubleNotice trouble={trouble} /> : null}
    </form>
  );
}

function useNewStream() {
  const { client, scenes } = useSession();
  const form = useSignal({ url: '', scene: firstScene(scenes), name: '', patience: '', hasSnapshots: true });
  const { run, isBusy, trouble, forgive, drop } = useAction();
  const what = useSignal<'probe' | 'create'>('probe');
  const probe = useSignal<components['schemas']['StreamProbe'] | undefined>(undefined);
  const requestKey = useSignal(newRequestKey());
  const change = (changes: Partial<typeof form.value>) => {
    form.value = { ...form.value, ...changes };
    requestKey.value = newRequestKey();
    // A task is created whatever the page shows by then; what a test finds is of the address that it was for.
    const isOfTest = changes.url !== undefined || changes.scene !== undefined;
    if (isOfTest) probe.value = undefined;
    if (isOfTest && what.value === 'probe') drop();
    else forgive();
  };
  const test = () => {
    what.value = 'probe';
    run(async (signal) => {
      probe.value = undefined;
      const body = { stream_url: form.value.url, scene_code: form.value.scene };
      probe.value = dataOf(await client.api.POST('/v1/vision/stream-probes', { body, signal }));
    });
  };
  const create = () => {
    what.value = 'create';
    run(async () => {
      const { url, scene, name, patience, hasSnapshots } = form.value;
      const task = await client.watchStream(
        { stream_url: url, scene_code: scene },
        {
          idempotencyKey: requestKey.value,
          snapshots: hasSnapshots ? 'tracks' : 'off',
          ...(name === '' ? {} : { client_ref: name }),
          ...(patience === '' ? {} : { give_up_after_s: Number(patience) }),
        },
      );
      location.hash = hrefOf({ page: 'task', taskId: task.task_id });
    });
  };
  return { form, busy: isBusy ? what.value : undefined, trouble, probe, change, test, create };
}
