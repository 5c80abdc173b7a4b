import type { JSX } from 'preact';
import { Notice, TroubleNotice } from '../components/notice.tsx';
import { Page } from '../components/page.tsx';
import { inUtc, moment, short } from '../lib/format.ts';
import { hrefOf } from '../lib/route.ts';
import { dataOf } from '../state/data.ts';
import { useSession } from '../state/session.ts';
import { useLoaded } from '../state/use-loaded.ts';
import { t } from '../strings.ts';
import { EndpointState } from '../webhooks/endpoint-state.tsx';
import { eventsText } from '../webhooks/event-sets.ts';
import type { Endpoint } from '../webhooks/event-sets.ts';
import { NewEndpoint } from '../webhooks/new-endpoint.tsx';

const EVERY_MS = 5_000;

/** Where events are sent. */
export function WebhooksPage(): JSX.Element {
  const { client } = useSession();
  const { value, trouble, reload } = useLoaded({
    key: 'endpoints',
    load: async (signal) => dataOf(await client.api.GET('/v1/vision/webhook-endpoints', { signal })).items,
    everyMs: (items) => (items ? EVERY_MS : undefined),
  });
  const endpoints = value.value;
  return (
    <Page title={t.webhooks.title} lead={t.webhooks.lead}>
      <TroubleNotice trouble={trouble.value} onRetry={reload} />
      {endpoints === undefined && !trouble.value ? <p class="dim tall">{t.loading}</p> : null}
      {endpoints?.length === 0 ? <Notice kind="info" title={t.webhooks.empty} /> : null}
      {endpoints && endpoints.length > 0 ? <EndpointTable endpoints={endpoints} /> : null}
      {endpoints ? <NewEndpoint names={endpoints.map(({ endpoint_id: name }) => name)} onTaken={reload} /> : null}
    </Page>
  );
}

function EndpointTable({ endpoints }: { endpoints: readonly Endpoint[] }): JSX.Element {
  return (
    <table class="list">
      <caption class="hidden">{t.webhooks.title}</caption>
      <thead>
        <tr>
          <th scope="col">{t.webhooks.name}</th>
          <th scope="col">{t.webhooks.state}</th>
          <th scope="col">{t.webhooks.url}</th>
          <th scope="col">{t.webhooks.events}</th>
          <th scope="col">{t.webhooks.created}</th>
        </tr>
      </thead>
      <tbody>
        {endpoints.map((endpoint) => (
          <tr key={endpoint.endpoint_id}>
            <th scope="row">
              <a href={hrefOf({ page: 'webhook', name: endpoint.endpoint_id })}>{endpoint.endpoint_id}</a>
            </th>
            <td>
              <EndpointState endpoint={endpoint} />
            </td>
            <td>
              <bdi>{short(endpoint.url, 60)}</bdi>
            </td>
            <td>{eventsText(endpoint.event_types)}</td>
            <td title={inUtc(endpoint.created_at)}>{moment(endpoint.created_at)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
