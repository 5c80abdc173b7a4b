import type { errorCodes } from './problem.ts';

type ErrorCode = (typeof errorCodes)[number];
/** Errors without a code: their HTTP status says enough for programs. */
type CodeOrNone = ErrorCode | 'none';

/**
 * Every `details.reason` that the public API can answer, by code, with its sentence in the guide. `fail.*` accepts no
 * reason that is missing here, and the docs check refuses a reason that no code gives. A reason never changes its
 * meaning.
 */
export const publicReasons = {
  'OP-AUTH-REQUIRED': {
    api_key_missing: 'The request has no header `Authorization`.',
    api_key_invalid: 'The API key is malformed, unknown, expired or revoked.',
  },
  'OP-TASK-REQUEST-INVALID': {
    unknown_field: 'A query parameter or a field of the body is not listed for this operation.',
    query_invalid: 'A query parameter has an invalid value or is repeated.',
    body_invalid:
      'The body is not a JSON object, or a field has an invalid value; also a body that an operation does not take.',
    body_too_large: 'The body exceeds the limit of the operation.',
    body_too_slow: 'The body did not arrive in time.',
    body_incomplete: 'The body ended early.',
    json_invalid: 'The body is not valid JSON in UTF-8.',
    content_type_invalid: 'The header `Content-Type` does not name the media type of the operation.',
    content_encoding_unsupported: 'The body is compressed.',
    idempotency_key_missing: 'The header `Idempotency-Key` is missing.',
    idempotency_key_invalid: 'The header `Idempotency-Key` is not a UUID, or is repeated.',
    idempotency_key_reused: 'The `Idempotency-Key` belongs to a different request.',
    scene_code_missing: 'The form has no `scene_code`.',
    scene_code_invalid: '`scene_code` is missing from the JSON body or is not a text.',
    stream_url_invalid: '`stream_url` is missing, malformed, or names a scheme, host or port that is not allowed.',
    stream_unreachable: 'The stream could not be reached or did not answer as a stream.',
    file_missing: 'The form has no file.',
    file_name_missing: 'A file of the form has no file name.',
    file_too_large: 'The video file exceeds its limit.',
    file_type_unsupported: 'The file is neither an MP4 nor a MOV video.',
    too_many_files: 'The form holds more than one video file.',
    image_count_out_of_range: 'The form holds no image or too many.',
    image_too_large: 'An image exceeds its limit.',
    image_type_unsupported: 'A file is not a JPEG, PNG or WEBP image, or is not declared as one.',
    multipart_malformed: 'The body is not a complete multipart form.',
    field_repeated: 'A field of the form is repeated.',
    field_too_long: 'A field of the form is too long.',
    too_many_fields: 'The form holds too many fields.',
    too_many_parts: 'The form holds too many parts.',
    region_invalid:
      'The region is not a polygon of 3 to 16 corners, each 0 to 1, whose edges do not cross or touch each other.',
    rule_invalid: 'The condition, the scope, the schedule or the interval of an alarm rule is invalid.',
    time_zone_unknown: 'The schedule of an alarm rule names no IANA time zone.',
    too_many_buckets: 'The time has too many buckets of this size; send a larger `bucket_ms` or a shorter time.',
    webhook_url_invalid:
      '`url` is missing, malformed, or names a scheme, user, host or port that is not allowed for webhooks.',
    mqtt_url_invalid:
      '`url` is missing, malformed, or names a scheme, user, path, host or port that is not allowed for MQTT brokers.',
    mqtt_login_invalid: 'A certificate or private key of an MQTT endpoint cannot be used.',
    secret_invalid: '`secret` is not `whsec_` and 24 to 64 random bytes in base64.',
    cursor_invalid: 'The cursor belongs to another list or order, or is not one of this service.',
    not_a_video_task: 'The task is an image call; read it at `/v1/vision/image-detections/{task_id}`.',
    not_an_upload: 'The task is not of an uploaded video, so no video is stored for it.',
    not_a_stream: 'The task is not of a live stream.',
    link_path_invalid: 'A link cannot be created for this path.',
    path_malformed: 'The percent-encoding of the path is malformed.',
    request_malformed: 'The request is not valid HTTP, or its headers are too large.',
    host_missing: 'The header `Host` is missing.',
    host_repeated: 'The header `Host` is repeated.',
    http_version_unsupported: 'The request is neither HTTP/1.1 nor HTTP/1.0.',
    expectation_unknown: 'The header `Expect` names something other than `100-continue`.',
    transfer_encoding_unsupported: 'The header `Transfer-Encoding` names something other than `chunked`.',
  },
  'OP-TASK-SCENE-UNAVAILABLE': {
    scene_unavailable: 'The scene does not exist or is not enabled.',
  },
  'OP-TASK-NOT-STOPPABLE': {
    task_ended: 'The task has already ended; `details.status` is its state. Image calls have always ended.',
  },
  'OP-TASK-UPSTREAM-DOWN': {
    inference_unreachable: 'The inference backend is unreachable or answers with an error.',
    inference_no_capacity: 'The inference backend has no capacity for another task.',
    stream_probes_saturated:
      'The inference backend is busy with other stream probes, or cannot detect objects now; retry later.',
    inference_answer_unexpected: 'The inference backend sent a response that its contract does not allow.',
  },
  'OP-TASK-BREAKER-OPEN': {
    breaker_open: 'New work is rejected because recent calls to the inference backend failed.',
    maintenance: 'An operator has switched maintenance on.',
  },
  'OP-QUOTA-DAILY-EXHAUSTED': {
    daily_quota_exhausted: 'The units left of the daily quota do not cover the request.',
  },
  'OP-QUOTA-RATE-LIMITED': {
    rate_exceeded: 'The subject sends too many requests per second.',
    active_tasks: 'Too many video tasks of the subject have not ended.',
    too_many_in_flight: 'Too many requests of this kind run at once for the subject; `details.limit` names the limit.',
    processor_time_exceeded: 'Images and videos of the subject have used more processor time than their share.',
    probe_rate: 'Too many streams of the subject are probed at once or per minute.',
    webhook_test_rate: 'Too many test events were sent within a minute.',
    rule_change_rate: 'Too many alarm rules were changed within a minute.',
    too_many_invalid_keys: 'The network of the client has sent too many invalid API keys.',
  },
  'OP-SYS-UNAVAILABLE': {
    first_request_still_running: 'A request with this `Idempotency-Key` is still in progress.',
    first_request_undone: 'The first request with this `Idempotency-Key` was rolled back.',
    first_call_still_running: 'An image call with this `Idempotency-Key` is still in progress.',
    create_taken_over: 'Another process continues this create request.',
    call_taken_over: 'Another process continues this image call.',
    call_not_confirmed: 'The image call could not be confirmed in time.',
    task_taken_over: 'The task changed during the request.',
    no_image_could_be_processed: 'The object store failed for every image.',
    too_many_calls: 'The service is at its limit of concurrent image calls.',
    result_expiring: 'The results of this `Idempotency-Key` are being deleted.',
    segment_unreadable: 'Stored frames could not be read.',
    deadline_exceeded: 'The request did not finish in time.',
    inference_not_configured: 'No inference backend is configured.',
    inference_name_unknown: 'The host name of the inference backend does not resolve.',
    tasks_unavailable: 'The tasks service is unreachable.',
    images_unavailable: 'The images service is unreachable.',
    results_unavailable: 'The results service is unreachable.',
    quota_unavailable: 'The quota service is unreachable.',
    notify_unavailable: 'The notify service is unreachable.',
    key_store_unavailable: 'API keys cannot be checked.',
    database_unavailable: 'The database is unreachable.',
    database_busy: 'The database did not finish a statement in time.',
    database_pool_exhausted: 'All database connections are in use.',
    connection_lost: 'A connection inside the service was lost.',
    kafka_unavailable: 'Kafka is unreachable.',
    redis_unavailable: 'Redis is unreachable.',
    object_store_unavailable: 'The object store is unreachable.',
    object_store_busy: 'The object store is at its limit of concurrent requests.',
    spool_unavailable: 'Received images could not be written to local disk.',
    webhooks_not_configured: 'The service has no keys for webhook and MQTT endpoints.',
    links_not_configured: 'The service has no keys for links.',
    openapi_document_missing: 'The OpenAPI document could not be read.',
  },
  none: {
    not_found: 'The address does not exist.',
    scope_missing: 'The API key does not have the scope that the operation requires; `details.scope` names it.',
    task_not_found: 'The task does not exist, was deleted, or belongs to another subject.',
    task_not_ended: 'The task has not ended; `details.status` is its state. Stop it first.',
    video_not_found: 'The video of the task is no longer stored.',
    snapshots_off: 'The task was created without snapshots.',
    snapshot_not_yet: 'No frame of the stream arrived in time, or no image of the track is stored yet; retry later.',
    snapshot_none: 'The task has ended, so it has no newest frame; or there is no image of the track.',
    not_supported: 'The inference backend creates no snapshots for the task.',
    link_invalid: 'The link is invalid or has expired, or its API key is no longer valid.',
    range_not_satisfiable: 'The header `Range` names no byte of the content.',
    track_not_found: 'The task has no such track.',
    rule_not_found: 'The subject has no alarm rule of this name.',
    alarm_not_found: 'The alarm does not exist, has expired, or belongs to another subject.',
    endpoint_not_found: 'The webhook endpoint does not exist.',
    mqtt_endpoint_not_found: 'The MQTT endpoint does not exist.',
    endpoint_disabled: 'The webhook endpoint is disabled; enable it first.',
    delivery_not_found: 'The delivery does not exist, or its event is no longer retained.',
    limit_reached: 'The subject has as many resources of this kind as it may have; `details.limit` names the limit.',
    method_not_allowed: 'The address does not have this method.',
    internal: 'The service has a defect.',
  },
} as const satisfies Record<CodeOrNone, Record<string, string>>;

/** Reasons of the admin API, of calls between services and of events; no public operation answers them. */
type InnerReasons = {
  'OP-AUTH-REQUIRED': 'token_invalid' | 'service_token_missing' | 'service_token_invalid';
  'OP-TASK-REQUEST-INVALID': 'operator_invalid' | 'image_unreadable' | 'too_many_ids';
  'OP-QUOTA-RATE-LIMITED': 'too_many_invalid_tokens';
  'OP-TASK-UPSTREAM-DOWN':
    | 'image_call_out_of_time'
    | 'decoder_lost'
    | 'decoder_not_started'
    | 'decoder_stopped'
    | 'detection_failed'
    | 'detector_lost'
    | 'model_server_failed'
    | 'sandbox_unavailable'
    | 'stopping';
  'OP-SYS-UNAVAILABLE':
    'inference_unavailable' | 'migration_running_elsewhere' | 'no_local_space' | 'position_unavailable' | 'worker_died';
  none:
    | 'call_not_allowed'
    | 'console_codes_off'
    | 'counter_not_found'
    | 'dead_letter_not_found'
    | 'job_not_found'
    | 'jobs_not_listed'
    | 'key_ended'
    | 'object_not_found'
    | 'reservation_differs'
    | 'reservation_not_open'
    | 'task_not_resolving'
    | 'task_runs'
    | 'topic_not_kept'
    | 'verification_contradicts'
    | 'verification_disproved';
};

/** The reasons of one code, public and inner. */
export type ReasonOf<Code extends CodeOrNone> =
  (keyof (typeof publicReasons)[Code] & string) | (Code extends keyof InnerReasons ? InnerReasons[Code] : never);

export type Reason = { [Code in CodeOrNone]: ReasonOf<Code> }[CodeOrNone];
