import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { ActionButton } from '../components/action-button.tsx';
import { AskButton } from '../components/ask-button.tsx';
import { optionsOf } from '../components/choices.tsx';
import { Choice } from '../components/fields.tsx';
import { Notice, TroubleNotice } from '../components/notice.tsx';
import { Page } from '../components/page.tsx';
import { inUtc, moment } from '../lib/format.ts';
import { hrefOf } from '../lib/route.ts';
import { dataOf } from '../state/data.ts';
import { useSession } from '../state/session.ts';
import { useLoaded } from '../state/use-loaded.ts';
import { t } from '../strings.ts';
import { Deliveries } from '../webhooks/deliveries.tsx';
import type { Delivery } from '../webhooks/deliveries.tsx';
import { EndpointState } from '../webhooks/endpoint-state.tsx';
import { eventsText } from '../webhooks/event-sets.ts';
import type { Endpoint } from '../webhooks/event-sets.ts';
import { SecretNotice } from '../webhooks/secret-notice.tsx';
import { useEndpointCalls } from '../webhooks/use-endpoint-calls.ts';

const EVERY_MS = 3_000;
const PER_PAGE = 25;
const HOUR_MS = 3_600_000;
const SPANS = { hour: HOUR_MS, day: 24 * HOUR_MS, week: 168 * HOUR_MS, month: 720 * HOUR_MS } as const;
type Span = keyof typeof SPANS;

/** One endpoint with its delivery log. */
export function WebhookPage({ endpointId }: { endpointId: string }): JSX.Element {
  const { endpoint, serverMs, log, state, cursor } = useEndpoint(endpointId);
  const calls = useEndpointCalls(endpointId, () => {
    endpoint.reload();
    log.reload();
  });
  const trouble = endpoint.trouble.value;
  const isMissing = trouble?.reason === 'endpoint_not_found';
  const shown = isMissing ? undefined : endpoint.value.value;
  return (
    <Page
      title={endpointId}
      actions={
        <a class="button" href={hrefOf({ page: 'webhooks' })}>
          {t.webhooks.back}
        </a>
      }
    >
      {isMissing ? <Notice kind="info" title={t.webhooks.missing} /> : <TroubleNotice trouble={trouble} />}
      <SecretNotice endpointId={endpointId} />
      {shown ? (
        <>
          <Facts endpoint={shown} />
          <Actions endpoint={shown} calls={calls} serverMs={serverMs} />
          <Deliveries
            loaded={log}
            state={state.value}
            cursor={cursor.value}
            isEnabled={shown.enabled}
            onState={(next) => {
              state.value = next;
              cursor.value = '';
            }}
            onCursor={(next) => (cursor.value = next)}
          />
        </>
      ) : null}
    </Page>
  );
}

function useEndpoint(endpointId: string) {
  const { client } = useSession();
  const state = useSignal('');
  const cursor = useSignal('');
  const serverMs = useSignal<number | undefined>(undefined);
  const path = { endpoint_id: endpointId };
  const endpoint = useLoaded({
    key: endpointId,
    load: async (signal) => {
      const answer = await client.api.GET('/v1/vision/webhook-endpoints/{endpoint_id}', { params: { path }, signal });
      serverMs.value = Date.parse(answer.response.headers.get('date') ?? '') || undefined;
      return dataOf(answer);
    },
    everyMs: (value) => (value ? EVERY_MS : undefined),
  });
  const log = useLoaded({
    key: JSON.stringify([endpointId, state.value, cursor.value]),
    load: async (signal) => {
      const query = {
        limit: PER_PAGE,
        ...(state.value === '' ? {} : { state: state.value as Delivery['state'] }),
        ...(cursor.value === '' ? {} : { cursor: cursor.value }),
      };
      const params = { path, query };
      return dataOf(await client.api.GET('/v1/vision/webhook-endpoints/{endpoint_id}/deliveries', { params, signal }));
    },
    everyMs: (value) => (value ? EVERY_MS : undefined),
  });
  return { endpoint, serverMs: serverMs.value, log, state, cursor };
}

function Facts({ endpoint }: { endpoint: Endpoint }): JSX.Element {
  const { url, event_types: types, enabled, disabled_reason: reason, created_at: createdAt } = endpoint;
  return (
    <>
      {enabled ? null : (
        <Notice kind={reason === 'requested' ? 'info' : 'fault'} title={t.webhooks.offBecause[reason ?? 'requested']}>
          <p>{t.webhooks.offText}</p>
        </Notice>
      )}
      <dl class="facts">
        <div>
          <dt>{t.webhooks.state}</dt>
          <dd>
            <EndpointState endpoint={endpoint} />
          </dd>
        </div>
        <div>
          <dt>{t.webhooks.url}</dt>
          <dd>
            <bdi>{url}</bdi>
          </dd>
        </div>
        <div>
          <dt>{t.webhooks.events}</dt>
          <dd>{eventsText(types)}</dd>
        </div>
        <div>
          <dt>{t.webhooks.created}</dt>
          <dd title={inUtc(createdAt)}>{moment(createdAt)}</dd>
        </div>
      </dl>
    </>
  );
}

interface ActionsProps {
  endpoint: Endpoint;
  calls: ReturnType<typeof useEndpointCalls>;
  serverMs: number | undefined;
}

function Actions({ endpoint, calls, serverMs }: ActionsProps): JSX.Element {
  const { isBusy, note, trouble } = calls;
  const { enabled } = endpoint;
  return (
    <section class="panel" aria-label={t.webhooks.name}>
      <div class="row">
        <ActionButton class="primary" isBusy={isBusy} isOff={!enabled} onClick={calls.test}>
          {t.webhooks.test}
        </ActionButton>
        <ActionButton isBusy={isBusy} onClick={() => calls.toggle(!enabled)}>
          {enabled ? t.webhooks.switchOff : t.webhooks.switchOn}
        </ActionButton>
        <AskButton
          text={t.webhooks.rotate}
          question={t.webhooks.rotateSure}
          yes={t.webhooks.rotateYes}
          no={t.webhooks.no}
          isBusy={isBusy}
          onYes={calls.rotate}
        />
        <AskButton
          text={t.webhooks.remove}
          question={t.webhooks.removeSure}
          yes={t.webhooks.removeYes}
          no={t.webhooks.no}
          isDanger
          isBusy={isBusy}
          onYes={calls.remove}
        />
      </div>
      <p class="line" role="status">
        {note}
      </p>
      <TroubleNotice trouble={trouble} />
      <Recover
        isBusy={isBusy}
        isOff={!enabled || serverMs === undefined}
        onRecover={(ms) => calls.recover((serverMs ?? 0) - ms)}
      />
    </section>
  );
}

interface RecoverProps {
  isBusy: boolean;
  isOff: boolean;
  onRecover: (ms: number) => void;
}

function Recover({ isBusy, isOff, onRecover }: RecoverProps): JSX.Element {
  const span = useSignal<Span>('day');
  return (
    <details>
      <summary>{t.webhooks.recover}</summary>
      <div class="row ends">
        <Choice
          name={t.webhooks.recoverSince}
          value={span.value}
          options={optionsOf(t.webhooks.recoverSpans)}
          onChange={(next) => (span.value = next as Span)}
        />
        <ActionButton isBusy={isBusy} isOff={isOff} onClick={() => onRecover(SPANS[span.value])}>
          {t.webhooks.recover}
        </ActionButton>
      </div>
    </details>
  );
}
