import { expect, test } from '@jest/globals';
import { answeredRequests } from './member.ts';

const series = (name: string, route: string, count: number) =>
  `${name}{http_request_method="GET",${route}http_response_status_code="200"} ${count}`;

test('requests of the API are counted by whatever name and spelling of routes, health checks and other series not', () => {
  const metrics = [
    '# TYPE http_server_request_duration_seconds histogram',
    series('http_server_request_duration_seconds_count', 'http_route="/v1/vision/usage",', 1),
    series('http_server_request_duration_seconds_count', 'http_route="/v1/vision/tasks/{task_id}/results",', 20),
    series('http_server_request_duration_count', 'http_route="/v1/vision/tasks/:task_id",', 300),
    series('http_server_request_duration_seconds_count', '', 4_000),
    series('http_server_request_duration_seconds_sum', 'http_route="/v1/vision/usage",', 50_000),
  ];
  expect(answeredRequests(metrics.join('\n'))).toBe(321);
});
