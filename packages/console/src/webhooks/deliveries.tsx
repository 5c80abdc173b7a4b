import type { components } from '@vision/client';
import type { JSX } from 'preact';
import { ActionButton } from '../components/action-button.tsx';
import { Choice } from '../components/fields.tsx';
import { TroubleNotice } from '../components/notice.tsx';
import { Pager } from '../components/pager.tsx';
import { duration, inUtc, moment, time } from '../lib/format.ts';
import { dataOf } from '../state/data.ts';
import { useSession } from '../state/session.ts';
import { useAction } from '../state/use-action.ts';
import type { useLoaded } from '../state/use-loaded.ts';
import { t } from '../strings.ts';

export type Delivery = components['schemas']['WebhookDelivery'];
type Page = components['schemas']['WebhookDeliveryPage'];

const options = [
  { value: '', text: t.deliveries.all },
  ...Object.entries(t.deliveries.states).map(([value, text]) => ({ value, text })),
];

interface DeliveriesProps {
  loaded: ReturnType<typeof useLoaded<Page>>;
  state: string;
  cursor: string;
  onState: (state: string) => void;
  onCursor: (cursor: string) => void;
  isEnabled: boolean;
}

/** The delivery log of an endpoint, newest first. */
export function Deliveries({ loaded, state, cursor, onState, onCursor, isEnabled }: DeliveriesProps): JSX.Element {
  const page = loaded.value.value;
  return (
    <section class="panel" aria-labelledby="deliveries">
      <div class="panel-head">
        <h2 id="deliveries">{t.deliveries.title}</h2>
        <Choice name={t.deliveries.state} value={state} options={options} onChange={onState} />
      </div>
      <TroubleNotice trouble={loaded.trouble.value} onRetry={loaded.reload} />
      {page === undefined && !loaded.trouble.value ? <p class="dim tall">{t.loading}</p> : null}
      {page?.items.length === 0 ? (
        <p class="dim">{state === '' ? t.deliveries.empty : t.deliveries.emptyFiltered}</p>
      ) : null}
      {page && page.items.length > 0 ? (
        <DeliveryTable items={page.items} isEnabled={isEnabled} onDone={loaded.reload} />
      ) : null}
      <Pager texts={t.deliveries} cursor={cursor} next={page?.next_cursor} onCursor={onCursor} />
    </section>
  );
}

interface DeliveryTableProps {
  items: readonly Delivery[];
  isEnabled: boolean;
  onDone: () => void;
}

function DeliveryTable({ items, ...shared }: DeliveryTableProps): JSX.Element {
  return (
    <table class="list">
      <caption class="hidden">{t.deliveries.title}</caption>
      <thead>
        <tr>
          <th scope="col">{t.deliveries.event}</th>
          <th scope="col">{t.deliveries.state}</th>
          <th scope="col">{t.deliveries.attempts}</th>
          <th scope="col">{t.deliveries.created}</th>
          <td />
        </tr>
      </thead>
      <tbody>
        {items.map((delivery) => (
          <DeliveryRow key={delivery.delivery_id} delivery={delivery} {...shared} />
        ))}
      </tbody>
    </table>
  );
}

const KINDS = { pending: 'active', delivered: 'ended', failed: 'fault', held: 'ended' } as const;

function DeliveryRow({ delivery, isEnabled, onDone }: Omit<DeliveryTableProps, 'items'> & { delivery: Delivery }) {
  const { delivery_id: id, type, state, created_at: createdAt, next_at: nextAt } = delivery;
  const { redeliver, isBusy, trouble } = useRedeliver(id, onDone);
  return (
    <tr>
      <th scope="row" title={delivery.event_id}>
        {type}
      </th>
      <td>
        <span class={`status ${KINDS[state]}`}>{t.deliveries.states[state]}</span>
        {nextAt === undefined || delivery.attempts.length === 0 ? null : (
          <span class="dim" title={inUtc(nextAt)}>
            {' '}
            {t.deliveries.next(time(Date.parse(nextAt)))}
          </span>
        )}
      </td>
      <td>
        <Attempts attempts={delivery.attempts} />
      </td>
      <td title={inUtc(createdAt)}>{moment(createdAt)}</td>
      <td>
        <ActionButton class="small" isBusy={isBusy} isOff={!isEnabled} onClick={redeliver}>
          {isBusy ? t.deliveries.redelivering : t.deliveries.redeliver}
        </ActionButton>
        <TroubleNotice trouble={trouble} />
      </td>
    </tr>
  );
}

function Attempts({ attempts }: Pick<Delivery, 'attempts'>): JSX.Element {
  const last = attempts.at(-1);
  if (!last) return <span class="dim">{t.deliveries.none}</span>;
  if (attempts.length === 1) return <span title={inUtc(last.at)}>{attemptText(last)}</span>;
  return (
    <details>
      <summary>
        {attempts.length}: {attemptText(last)}
      </summary>
      <ul>
        {attempts.map((attempt) => (
          <li key={attempt.at} title={inUtc(attempt.at)}>
            {moment(attempt.at)}: {attemptText(attempt)}
          </li>
        ))}
      </ul>
    </details>
  );
}

function attemptText({ outcome, status, duration_ms: ms }: Delivery['attempts'][number]): string {
  const words = t.deliveries.outcomes[outcome];
  const said = outcome === 'http_status' && status !== undefined ? `${words} ${status}` : words;
  return t.deliveries.attempt(said, ms < 1000 ? `${ms} ms` : duration(ms));
}

function useRedeliver(deliveryId: string, onDone: () => void) {
  const { client } = useSession();
  const { run, ...action } = useAction();
  const redeliver = () =>
    run(async () => {
      const params = { path: { delivery_id: deliveryId } };
      dataOf(await client.api.POST('/v1/vision/webhook-deliveries/{delivery_id}/redeliver', { params }));
      onDone();
    });
  return { ...action, redeliver };
}
