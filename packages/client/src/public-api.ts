// Written by `npm run docs` from docs/openapi/public.json.
export interface paths {
  '/api/op/v1/scenes': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * Lists the scenes with their labels, thresholds and measured quality
     * @description Enabled scenes are valid values of `scene_code`. The list does not depend on the state of the inference backend.
     */
    get: operations['listScenes'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/openapi.json': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * Returns this document
     * @description Requires no API key. `/docs` shows it in a browser.
     */
    get: operations['getOpenapiDocument'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/vision/alarm-backtests': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /**
     * Tries an alarm rule on stored frames
     * @description Returns the alarms that a rule would have raised in a part of a video task. Nothing is stored and no notification is sent. The judgement begins with the range: a condition that held before it counts from there.
     */
    post: operations['createAlarmBacktest'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/vision/alarm-rules': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /** Lists your alarm rules */
    get: operations['listAlarmRules'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/vision/alarm-rules/{rule_id}': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * Returns an alarm rule
     * @description Returns the rule, and counts your verdicts on its alarms of the last 7 days.
     */
    get: operations['getAlarmRule'];
    /**
     * Creates or replaces an alarm rule
     * @description Stores the rule under a name of your own: 1 to 64 of `a-z`, `0-9`, `_`, `-`. A repeat changes nothing. The rule applies to running tasks within seconds. A change of anything but `name` is a new version, and closes the open alarms of the version before. Try a rule on stored frames first: `createAlarmBacktest`. Changes are limited per minute (`rule_change_rate`); repeats do not count.
     */
    put: operations['putAlarmRule'];
    post?: never;
    /**
     * Deletes an alarm rule
     * @description Closes the open alarms of the rule within seconds; its alarms stay readable. Repeating the request changes nothing. Long after the deletion a repeat answers 404 `rule_not_found`, as for a rule that never existed.
     */
    delete: operations['deleteAlarmRule'];
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/vision/alarms': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * Lists alarms of your rules
     * @description Returns alarms as they are now, in the order in which they opened. Closed alarms are retained for 30 days by default (`EVENT_DAYS` of the operator) after their last change. To follow alarms, read events.
     */
    get: operations['listAlarms'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/vision/alarms/{alarm_id}': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /** Returns an alarm */
    get: operations['getAlarm'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/vision/alarms/{alarm_id}/review': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    /**
     * Stores your verdict on an alarm
     * @description Replaces an earlier verdict and its note. A repeat changes nothing. `getAlarmRule` counts the verdicts of a rule, so you see how often it is right.
     */
    put: operations['reviewAlarm'];
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/vision/events': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * Lists events of your tasks
     * @description Returns events of all your tasks from one log, retained for 30 days by default (`EVENT_DAYS` of the operator). No event is ever inserted before one that you have read, so `resume_cursor` misses no event within the retention. If events behind your cursor have expired, or the log ends before it after a restore, the first item is `events.missed`. Deleting a task removes its events, so numbers may be missing. The same event always has the same `event_id`.
     */
    get: operations['listEvents'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/vision/events/stream': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * Streams events of your tasks
     * @description Sends each event as a server-sent event as soon as it is logged: `event` is its type, `data` an Event, `id` the cursor behind it. Without a cursor it begins with the next event. The service closes a stream after about ten minutes, during updates, and when the API key is no longer valid. Reconnect with `Last-Event-ID` within the retention (30 days by default, `EVENT_DAYS` of the operator), and you miss no event and receive none twice. Later, the first event is `events.missed`: it stands for those that expired, or that a restored log lacks. Events of tasks that you have deleted are not sent. A comment is sent at the beginning and every 10 s.
     */
    get: operations['getEventStream'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/vision/image-detections': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /**
     * Detects objects in 1 to 10 images
     * @description Returns the detections in the response. Each image that succeeds is charged one unit of the daily image quota. A client that receives no response repeats the call with the same Idempotency-Key.
     */
    post: operations['createImageDetection'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/vision/image-detections/{task_id}': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * Returns the detections of an earlier image call
     * @description Returns the detections until `result_expires_at`. Reading is not charged. Frames of a video task are at `/v1/vision/tasks/{task_id}/results`.
     */
    get: operations['getImageDetection'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/vision/key': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * Returns what the API key may do
     * @description Every key may ask; no scope is needed.
     */
    get: operations['getKey'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/vision/links': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /**
     * Creates a link that needs no API key
     * @description The link reads one path for clients that cannot send a header, such as `<video>` and `<img>`. Everyone who has it can read the path until it expires or the API key that created it is revoked. The content is looked up when the link is used, so a link can be created for a task that does not exist.
     */
    post: operations['createLink'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/vision/links/{token}': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * Returns what a link is for
     * @description Needs no key. Answers as the path of the link does. Requests count towards the rate of the subject that created it.
     */
    get: operations['getLink'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/vision/mqtt-endpoints': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * Lists your MQTT endpoints
     * @description Returns all your endpoints, ordered by `endpoint_id`.
     */
    get: operations['listMqttEndpoints'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/vision/mqtt-endpoints/{endpoint_id}': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * Returns an MQTT endpoint
     * @description Returns the settings of an endpoint, whether it is connected, and how far the broker has acknowledged. Passwords and keys are never returned.
     */
    get: operations['getMqttEndpoint'];
    /**
     * Creates or replaces an MQTT endpoint
     * @description Creates the endpoint, or replaces all its settings; repeating the request changes nothing. The service connects to the broker by MQTT 3.1.1 and publishes the events that follow, in their order, with QoS 1 and without retain; it subscribes to nothing. The topic is `<topic_prefix>/<type>/<camera>`, where the camera is the `client_ref` or, without one, the `task_id`; events that are about no task have the topic `<topic_prefix>/<type>`. The payload is the event as in `GET /v1/vision/events`. An event counts as published when the broker has acknowledged it, and may arrive more than once under the same `event_id`. After a failure the service connects again, at first after a second, later every five minutes. An endpoint belongs to the API key that sent this request last: within 10 s after that key is revoked, or after your last key has expired, the endpoint is disabled, and an event says so. To replace a key, send this request with the new key before you revoke the old one.
     */
    put: operations['putMqttEndpoint'];
    post?: never;
    /**
     * Deletes an MQTT endpoint
     * @description Deletes an endpoint with its login; nothing more is published to it. A repeat returns the same response, as does an id that you have never used.
     */
    delete: operations['deleteMqttEndpoint'];
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/vision/settings': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /** Returns the settings of the subject */
    get: operations['getSettings'];
    /**
     * Changes the settings of the subject
     * @description Applies to tasks that are created afterwards, by any API key of the subject; tasks keep the settings that they were created with. Takes effect within a few seconds. Repeatable.
     */
    put: operations['putSettings'];
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/vision/stream-probes': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /**
     * Reads a live stream for a moment, before a task is created
     * @description Returns codec, size, frame rate and one frame of the stream, and the objects in it if `scene_code` is sent. Creates no task and charges no unit; the processor time counts as that of images does. The frame is not stored. A response takes up to 10 seconds. If the stream cannot be reached, the request is rejected as a create request is: the reason is not disclosed, and the response time does not depend on it. Limited per minute (`probe_rate`) and by concurrency (`too_many_in_flight`).
     */
    post: operations['createStreamProbe'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/vision/tasks': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * Lists video tasks and image calls
     * @description Returns your tasks and image calls until their results expire. Filters may change from page to page.
     */
    get: operations['listTasks'];
    put?: never;
    /**
     * Creates a video task for a live stream
     * @description Charges one unit of the daily video quota. An invalid `stream_url` is rejected immediately. If the stream cannot be reached, no task is created and no unit is charged. The reason is not disclosed, and the response time does not depend on it. Stream probes are limited per minute and by concurrency (`probe_rate`).
     */
    post: operations['createStreamTask'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/vision/tasks/{task_id}': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /** Returns a task */
    get: operations['getTask'];
    put?: never;
    post?: never;
    /**
     * Deletes an ended task or an image call
     * @description Deletes the task with its results, tracks, alarms, and uploaded video or images. After the response the task cannot be read, nor can its results: only if a part of the service was unavailable during the request, results can be read for some seconds after it is back. Stored copies, events and alarms are removed in the background. Units are not returned. A repeat returns the same response. A create request with the `Idempotency-Key` of the task is rejected with 404 `task_not_found`.
     */
    delete: operations['deleteTask'];
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/vision/tasks/{task_id}/live-snapshot': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * Returns the newest frame of a live stream as an image
     * @description The frame is at most 2 s old and its longest side has at most 1280 pixels. The first request waits up to 3 s for a frame. Frames are encoded and stored only while they are requested, and removed a minute later. Requires a task with `snapshots`.
     */
    get: operations['getLiveSnapshot'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/vision/tasks/{task_id}/results': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * Returns result frames of a video task, while it runs or after it has ended
     * @description Frames without objects are returned too, unless `skip_empty` is sent. A task that was created a moment ago has none yet: the page is empty.
     */
    get: operations['getResults'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/vision/tasks/{task_id}/results/stream': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * Streams result frames of a video task
     * @description Sends each frame as a server-sent event `frame` as soon as it is stored: `data` is a ResultFrame, `id` the cursor behind it. After the last frame of an ended task comes `end` with the `status` of the task; reconnecting then returns 204. With `to_ms` the stream also stays open until the task has ended. The service closes a stream after about ten minutes, during updates, and when the API key is no longer valid. Reconnect with `Last-Event-ID`, and you miss no frame and receive none twice. A comment is sent every 10 s.
     */
    get: operations['getResultStream'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/vision/tasks/{task_id}/source': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * Returns the state of the source of a video task, and why the task failed
     * @description A change is visible within 5 s. The answer names no host, path, port or address: sources that cannot be reached are `unreachable`, for every reason.
     */
    get: operations['getSource'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/vision/tasks/{task_id}/stop': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /**
     * Stops a video task
     * @description Waits up to 10 s for the task to stop. If the response still says `stopping`, the service completes the stop in the background.
     */
    post: operations['stopTask'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/vision/tasks/{task_id}/timeline': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * Returns the objects of a video task over time, and the times without frames
     * @description A second is covered if it has a frame. At less than two sampled frames per second, a frame covers two sampling periods, in whole seconds. `covered_ms` of all buckets and all gaps add up to the time of `coverage`.
     */
    get: operations['getTimeline'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/vision/tasks/{task_id}/tracks': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /** Lists the tracks of a video task */
    get: operations['listTracks'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/vision/tasks/{task_id}/tracks/{track_id}': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /** Returns one track of a video task */
    get: operations['getTrack'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/vision/tasks/{task_id}/tracks/{track_id}/snapshot': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * Returns an image of the object of a track
     * @description The part of a frame that shows the object best, with a margin of 10 %; its longest side has at most 640 pixels. A better image replaces it while the track lasts, and once more when it ends. Requires a task with `snapshots`.
     */
    get: operations['getTrackSnapshot'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/vision/tasks/{task_id}/video': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * Returns the uploaded video of a task
     * @description Returns the file as it was uploaded, entirely or one range of it, until the results of the task are deleted.
     */
    get: operations['getTaskVideo'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/vision/usage': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * Returns today's quota usage
     * @description A quota day begins at 00:00 UTC+8.
     */
    get: operations['getUsage'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/vision/usage/days': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * Returns the quota usage of each day
     * @description Covers at most 92 days. Refunded units are subtracted from the day they were charged on. Future days and days beyond the retention period are omitted.
     */
    get: operations['getUsageDays'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/vision/video-tasks': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /**
     * Creates a video task for an uploaded file
     * @description Charges one unit of the daily video quota. A rejected upload is deleted and not charged.
     */
    post: operations['createUploadTask'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/vision/webhook-deliveries/{delivery_id}/redeliver': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /**
     * Sends a delivery again
     * @description Makes a delivery due now, also a delivered or failed one, under the same `webhook-id` and with all attempts anew.
     */
    post: operations['redeliverWebhook'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/vision/webhook-endpoints': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * Lists your webhook endpoints
     * @description Returns all your endpoints, ordered by `endpoint_id`.
     */
    get: operations['listWebhookEndpoints'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/vision/webhook-endpoints/{endpoint_id}': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * Returns a webhook endpoint
     * @description Returns the settings of an endpoint and whether it is enabled. Secrets are never returned.
     */
    get: operations['getWebhookEndpoint'];
    /**
     * Creates or replaces a webhook endpoint
     * @description Creates the endpoint, or replaces all its settings; repeating the request changes nothing. A new endpoint is sent the events that follow. When you send no `secret`, the service makes one and returns it once, in the response to the creation. `secret` in a later request replaces the secret at once; to replace it without failing signatures, use `rotate-secret`. Sending `"enabled": true` enables an endpoint again that the service has disabled. An endpoint belongs to the API key that sent this request last. Within 10 s after that key is revoked, or after your last key has expired, nothing more is sent to it: it is disabled, webhooks that wait for it are dropped, and an event says so. A key that is replaced with an overlap changes nothing; send this request with the new key before you revoke the old one.
     */
    put: operations['putWebhookEndpoint'];
    post?: never;
    /**
     * Deletes a webhook endpoint
     * @description Deletes an endpoint with its secrets and deliveries; pending webhooks are not sent. A repeat returns the same response, as does an id that you have never used.
     */
    delete: operations['deleteWebhookEndpoint'];
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/vision/webhook-endpoints/{endpoint_id}/deliveries': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * Lists the deliveries of a webhook endpoint
     * @description Returns deliveries, newest first, with the outcome of each attempt. The content of answers is not stored. Deliveries are retained as long as events are.
     */
    get: operations['listWebhookDeliveries'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/vision/webhook-endpoints/{endpoint_id}/recover': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /**
     * Sends missed events again
     * @description Sends the events that were logged since a time and not delivered to the endpoint: failed ones, and those that were logged while it was disabled. Delivered and pending ones stay as they are, so the request can be repeated. Events are available for as long as they are retained (30 days by default).
     */
    post: operations['recoverWebhookEndpoint'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/vision/webhook-endpoints/{endpoint_id}/rotate-secret': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /**
     * Replaces the secret of a webhook endpoint
     * @description Makes a new secret, or takes yours. During the overlap each webhook carries two signatures, so that a receiver can check with either secret. A further rotation within the overlap ends the older one. Send a `secret` of your own to be able to repeat the request: the secret that is in force already changes nothing.
     */
    post: operations['rotateWebhookSecret'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/vision/webhook-endpoints/{endpoint_id}/test': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /**
     * Sends a test event to a webhook endpoint
     * @description Logs an event of type `webhook_endpoint.test` and sends it to this endpoint, regardless of its `event_types`. The deliveries of the endpoint tell the outcome. At most 6 tests a minute.
     */
    post: operations['testWebhookEndpoint'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
}
export interface webhooks {
  taskEvent: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /**
     * A video task has a new state
     * @description Signed by Standard Webhooks 1.0: `webhook-id` is the `event_id`, `webhook-timestamp` the time of the attempt in seconds since 1970, `webhook-signature` one or two signatures. Check them on the body as received. Answer 2xx within 15 s; the same event may arrive more than once and later than newer ones.
     */
    post: operations['taskEvent'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  alarmEvent: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /**
     * An alarm opened, changed or closed
     * @description Signed by Standard Webhooks 1.0: `webhook-id` is the `event_id`, `webhook-timestamp` the time of the attempt in seconds since 1970, `webhook-signature` one or two signatures. Check them on the body as received. Answer 2xx within 15 s; the same event may arrive more than once and later than newer ones.
     */
    post: operations['alarmEvent'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  webhookEndpointEvent: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /**
     * A webhook or MQTT endpoint was disabled, or a webhook tested
     * @description Signed by Standard Webhooks 1.0: `webhook-id` is the `event_id`, `webhook-timestamp` the time of the attempt in seconds since 1970, `webhook-signature` one or two signatures. Check them on the body as received. Answer 2xx within 15 s; the same event may arrive more than once and later than newer ones. A test is sent to the tested endpoint only.
     */
    post: operations['webhookEndpointEvent'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  eventsMissed: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /**
     * The endpoint was not sent some events
     * @description Signed by Standard Webhooks 1.0: `webhook-id` is the `event_id`, `webhook-timestamp` the time of the attempt in seconds since 1970, `webhook-signature` one or two signatures. Check them on the body as received. Answer 2xx within 15 s; the same event may arrive more than once and later than newer ones. Sent to the endpoint concerned, regardless of its `event_types`.
     */
    post: operations['eventsMissed'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
}
export interface components {
  schemas: {
    /** @description Something that happened to a video task */
    TaskEvent: {
      /**
       * Format: uuid
       * @description Identifier of the event; the same whenever and however the event is delivered
       */
      event_id: string;
      /**
       * Format: date-time
       * @description Time at which the event happened
       */
      timestamp: string;
      /**
       * Format: int64
       * @description Number of the event in your log, in ascending order
       */
      sequence: number;
      /**
       * @description Type of the event. Later releases add types: ignore those you do not know
       * @enum {string}
       */
      type: 'task.running' | 'task.resolving' | 'task.succeeded' | 'task.stopped' | 'task.failed' | 'task.refunded';
      data: components['schemas']['TaskEventData'];
    };
    /** @description Data of events about a video task */
    TaskEventData: {
      /** @description The task as it was when the event happened */
      task: {
        /** Format: uuid */
        task_id: string;
        /** @description Idempotency-Key of the create request, as it was sent */
        request_id: string;
        scene_code: string;
        status: components['schemas']['TaskStatus'];
        /**
         * Format: date-time
         * @description Time at which the results are deleted
         */
        result_expires_at: string;
        /** Format: date-time */
        created_at: string;
        /** Format: date-time */
        updated_at: string;
      };
      /** @description `client_ref` of the create request; absent without one */
      client_ref?: string;
      /**
       * @description Reason of a `failed` or `refunded` task
       * @enum {string}
       */
      reason?:
        | 'unreachable'
        | 'source_lost'
        | 'stream_ended'
        | 'auth_failed'
        | 'not_found'
        | 'codec_unsupported'
        | 'no_video_track'
        | 'unreadable'
        | 'format_changed'
        | 'video_too_long'
        | 'video_too_dense'
        | 'too_much_data'
        | 'decode_time_exceeded'
        | 'decoder_failed'
        | 'service_fault'
        | 'unknown';
    };
    /**
     * @description `submitting`: charged, being submitted to the inference backend. `resolving`: the outcome of the submission is unknown and is being determined. `running`: producing frames. `stopping`: a stop was requested. `stopped`, `succeeded`, `failed`: final. `refunded`: never started; the unit was returned.
     * @enum {string}
     */
    TaskStatus: 'submitting' | 'resolving' | 'running' | 'stopping' | 'stopped' | 'succeeded' | 'failed' | 'refunded';
    /** @description An alarm opened, changed or closed */
    AlarmEvent: {
      /**
       * Format: uuid
       * @description Identifier of the event; the same whenever and however the event is delivered
       */
      event_id: string;
      /**
       * Format: date-time
       * @description Time at which the event happened
       */
      timestamp: string;
      /**
       * Format: int64
       * @description Number of the event in your log, in ascending order
       */
      sequence: number;
      /**
       * @description Type of the event. Later releases add types: ignore those you do not know
       * @enum {string}
       */
      type: 'alarm.opened' | 'alarm.updated' | 'alarm.closed';
      data: components['schemas']['AlarmEventData'];
    };
    /** @description Data of events about an alarm */
    AlarmEventData: {
      /** @description The alarm as it was when the event happened */
      alarm: {
        /**
         * Format: uuid
         * @description Identifier of the alarm
         */
        alarm_id: string;
        /** @description 1 when the alarm opened, greater with every change of it */
        version: number;
        /** @description Rule that raised the alarm */
        rule_id: string;
        /**
         * Format: int64
         * @description Version of the rule that raised it
         */
        rule_version: number;
        /** Format: uuid */
        task_id: string;
        /** @description `client_ref` of the task; absent without one */
        client_ref?: string;
        /** @description Scene of the task */
        scene_code?: string;
        /**
         * @description `open` while the condition of the rule holds
         * @enum {string}
         */
        state: 'open' | 'closed';
        /** @enum {string} */
        kind: 'object_present' | 'object_absent' | 'line_crossed' | 'source_down' | 'task_ended';
        /**
         * Format: int64
         * @description `frame_time_ms` at which the alarm opened
         */
        opened_ms: number;
        /**
         * Format: int64
         * @description `frame_time_ms` at which it closed; absent while open
         */
        closed_ms?: number;
        /** @description Episodes since the alarm before that `min_interval_ms` held back, and those beyond what a minute of the task may raise: 60 alarms of crossings, 300 of other conditions on objects */
        suppressed: number;
        evidence: components['schemas']['AlarmEvidence'];
        /** @description Labels of the objects during the alarm */
        labels: string[];
        /** @description Largest number of objects in one frame during the alarm */
        count_max: number;
        /** @description Tracks of the objects during the alarm, at most 20 */
        track_ids: string[];
        /**
         * @description `cleared`: the condition no longer holds. `gap`: no frame followed for 60 s. `schedule`: the schedule ended. `rule`: the rule was changed, disabled or deleted. `task_end`: the task ended. Absent while open
         * @enum {string}
         */
        closed_by?: 'cleared' | 'gap' | 'schedule' | 'rule' | 'task_end';
        /** @description Image of the object; absent in alarms of an earlier release */
        snapshot?: {
          /**
           * @description `available`: an image is stored, and expires as images of tracks do. `pending`: none is stored yet; the event `alarm.updated` follows when one is stored within a day of the last event of the alarm. `none`: no object raised the alarm. `off`: the task has no snapshots
           * @enum {string}
           */
          state: 'available' | 'pending' | 'none' | 'off';
          /** @description Path of the image, to be read with your API key; present for `available` and `pending` */
          path?: string;
          /**
           * Format: int64
           * @description `frame_time_ms` of the frame that it is cut from, once it is available
           */
          frame_time_ms?: number;
        };
        /**
         * Format: int64
         * @description Number of its opening in your log; absent in events, which have their own
         */
        sequence?: number;
        /**
         * Format: date-time
         * @description Time at which the alarm was raised
         */
        created_at: string;
        /**
         * Format: date-time
         * @description Time of its last change
         */
        updated_at: string;
        /** @description Your verdict; absent in events */
        review?: {
          /**
           * @description `confirmed`: rightly raised. `false_alarm`: wrongly raised. `none`: not reviewed
           * @enum {string}
           */
          verdict: 'none' | 'confirmed' | 'false_alarm';
          /** @description Note of the review; absent without one */
          note?: string;
          /**
           * Format: date-time
           * @description Time of the review; absent before
           */
          reviewed_at?: string;
        };
      };
    };
    /** @description Why an alarm was raised */
    AlarmEvidence: {
      /** @description Frame that raised the alarm, or the last one before it */
      frame_id?: string;
      /**
       * Format: int64
       * @description Time of this frame
       */
      frame_time_ms?: number;
      /** @description Objects of this frame that the rule counts, highest score first, at most 10 */
      objects: components['schemas']['TrackedObject'][];
      /** @description Number of objects of this frame that the rule counts */
      count: number;
      /**
       * Format: int64
       * @description Milliseconds for which the condition had held, without gaps
       */
      held_ms: number;
      /**
       * @description Direction of a crossing, as seen from the first point of the line
       * @enum {string}
       */
      direction?: 'left_to_right' | 'right_to_left';
      /**
       * @description Final status of the task; present for `task_ended`
       * @enum {string}
       */
      status?: 'submitting' | 'resolving' | 'running' | 'stopping' | 'stopped' | 'succeeded' | 'failed' | 'refunded';
      /** @description Region of the rule as it was; absent for a rule without one */
      region?: number[][];
      /** @description Line of the rule as it was; present for `line_crossed` */
      line?: number[][];
    };
    /** @description Object detected in a video frame */
    TrackedObject: {
      /** @description Label of the object, one of the labels of the scene */
      label: string;
      /** @description Confidence, 0 to 1; for a calibrated detector, the probability that the box is correct */
      score: number;
      bbox: components['schemas']['BoundingBox'];
      /** @description Identifier of the object across the frames of the task */
      track_id: string;
    };
    /** @description Box as centre and size, relative to the image size */
    BoundingBox: {
      /** @enum {string} */
      format: 'cxcywh_normalized';
      /** @description Horizontal centre of the box, 0 to 1 of the image width */
      cx: number;
      /** @description Vertical centre of the box, 0 to 1 of the image height */
      cy: number;
      /** @description Width of the box, 0 to 1 of the image width */
      width: number;
      /** @description Height of the box, 0 to 1 of the image height */
      height: number;
    };
    /** @description A webhook or MQTT endpoint was disabled, or a webhook tested */
    WebhookEndpointEvent: {
      /**
       * Format: uuid
       * @description Identifier of the event; the same whenever and however the event is delivered
       */
      event_id: string;
      /**
       * Format: date-time
       * @description Time at which the event happened
       */
      timestamp: string;
      /**
       * Format: int64
       * @description Number of the event in your log, in ascending order
       */
      sequence: number;
      /**
       * @description Type of the event. Later releases add types: ignore those you do not know
       * @enum {string}
       */
      type: 'webhook_endpoint.disabled' | 'webhook_endpoint.test' | 'mqtt_endpoint.disabled';
      data: components['schemas']['WebhookEndpointEventData'];
    };
    /** @description Data of events about a webhook or MQTT endpoint */
    WebhookEndpointEventData: {
      /** @description `endpoint_id` of the webhook or MQTT endpoint */
      endpoint_id: string;
      /**
       * @description Reason of `webhook_endpoint.disabled` and `mqtt_endpoint.disabled`: `failing` for three days, `gone` (the receiver answered 410), `key_revoked` (the API key that changed the endpoint last was revoked), or `no_key` (you had no valid API key)
       * @enum {string}
       */
      reason?: 'failing' | 'gone' | 'requested' | 'key_revoked' | 'no_key';
    };
    /** @description Events that are missing at this point; pages contain it for any filter of `types` */
    MissedEvents: {
      /**
       * Format: uuid
       * @description Identifier of the event; the same whenever and however the event is delivered
       */
      event_id: string;
      /**
       * Format: date-time
       * @description Time at which the event happened
       */
      timestamp: string;
      /**
       * Format: int64
       * @description Number of the event in your log, in ascending order
       */
      sequence: number;
      /**
       * @description Type of the event. Later releases add types: ignore those you do not know
       * @enum {string}
       */
      type: 'events.missed';
      data: components['schemas']['MissedEventsData'];
    };
    /** @description Events that are missing here */
    MissedEventsData: {
      /** @description Webhook endpoint that was not sent them; absent: they have expired, or were lost with the database of the service */
      endpoint_id?: string;
      /**
       * Format: int64
       * @description Number from which on events are missing
       */
      first_sequence: number;
      /**
       * Format: int64
       * @description Number of the last event that is missing
       */
      last_sequence: number;
      /** @description Send it to `GET /v1/vision/events` to read the events that an endpoint was not sent */
      cursor?: string;
    };
    /** @description Error response (RFC 9457). `code` is absent on 403, 404, 405, 416, 500 and conflicts of the admin API. */
    Problem: {
      /** @description Problem type: `urn:vision:problem:<details.reason>` */
      type: string;
      /** @description Short summary; the same for all problems of one code or status */
      title: string;
      /** @description HTTP status code */
      status: number;
      /** @description Explanation for people, with what to do; the wording may change */
      detail: string;
      /** @description Identifier of the request: `urn:request:<X-Request-Id>` */
      instance: string;
      code?: components['schemas']['ErrorCode'];
      details: components['schemas']['ProblemDetails'];
      /** @description Identifier of the trace, as in the header X-Trace-Id; include it in support requests */
      trace_id: string;
      /** @description True if the unchanged request may succeed later */
      retryable: boolean;
    };
    /**
     * @description Machine-readable error code
     * @enum {string}
     */
    ErrorCode:
      | 'OP-AUTH-REQUIRED'
      | 'OP-TASK-REQUEST-INVALID'
      | 'OP-TASK-SCENE-UNAVAILABLE'
      | 'OP-TASK-NOT-STOPPABLE'
      | 'OP-TASK-UPSTREAM-DOWN'
      | 'OP-TASK-BREAKER-OPEN'
      | 'OP-QUOTA-DAILY-EXHAUSTED'
      | 'OP-QUOTA-RATE-LIMITED'
      | 'OP-SYS-UNAVAILABLE';
    ProblemDetails: {
      /** @description Machine-readable reason, snake_case. Reasons keep their meaning; new ones may be added. */
      reason: string;
      /** @description Header, parameter or field that caused the error */
      field?: string;
      /** @description `scope_missing`: scope that the operation requires */
      scope?: string;
      /** @description OP-TASK-SCENE-UNAVAILABLE: requested scene */
      scene_code?: string;
      /** @description Status of the task that prevents the request */
      status?: string;
      /** @description OP-QUOTA-DAILY-EXHAUSTED: units per day. OP-QUOTA-RATE-LIMITED: name or value of the limit. */
      limit?: string | number;
      /** @description OP-QUOTA-RATE-LIMITED: maximum number at once */
      allowed?: number;
      /** @description OP-QUOTA-RATE-LIMITED: number of active tasks */
      active?: number;
      /** @description OP-QUOTA-DAILY-EXHAUSTED: units used today */
      used?: number;
      /** @description OP-QUOTA-DAILY-EXHAUSTED: units required by this request */
      requested?: number;
      /**
       * Format: date-time
       * @description OP-QUOTA-DAILY-EXHAUSTED: start of the next quota day
       */
      resets_at?: string;
      /** @description `verification_disproved`: what the backend reports about the job */
      evidence?: {
        /** @description Status of the job; null if the backend does not have it */
        job_status: string | null;
        frames_published: number;
        /** @description True if the backend reported the job earlier */
        seen_before: boolean;
      };
      /** @description 416: size of the content */
      bytes?: number;
      /** @description 405: methods that the path supports */
      allow?: string[];
    };
    SceneList: {
      scenes: components['schemas']['Scene'][];
    };
    /** @description Set of objects that the service detects */
    Scene: {
      scene_code: string;
      name: string;
      description: string;
      /** @description True if the scene is accepted as `scene_code` */
      enabled: boolean;
      /** @description Labels that detections of this scene can carry */
      labels: string[];
      /** @description Lowest stored score. Detections with a lower score are not stored. */
      lower_bound: number;
      /** @description Default score threshold of a task, fixed when the task is created */
      default_min_score: number;
      /** @description Measured quality; absent if the operator provides none */
      quality?: {
        /** @description Detection method for images and video */
        method: string;
        /** @description Data that the figures were measured on, or a statement that none were measured */
        measured_on: string;
        /** @description Measured figures; may be empty */
        figures: components['schemas']['QualityFigure'][];
        /** @description Known limits: objects that are missed or mistaken, one sentence each */
        limits: string[];
      };
    };
    QualityFigure: {
      /**
       * @description `precision`: share of reported objects that are correct. `recall`: share of real objects that are reported. `false_alarms_per_hour`: alarms in an hour of video without such an object. `seconds_to_first_alarm`: time from the appearance of an object to the first alarm.
       * @enum {string}
       */
      measure: 'precision' | 'recall' | 'false_alarms_per_hour' | 'seconds_to_first_alarm';
      /** @description Label that was measured */
      label: string;
      /**
       * @description Measured on images (`picture`) or on videos (`video`)
       * @enum {string}
       */
      input: 'picture' | 'video';
      /** @description Score threshold that the figure applies to */
      min_score: number;
      /** @description Measured value: a share from 0 to 1, a number an hour, or seconds */
      value: number;
    };
    OpenApiDocument: {
      openapi: string;
      info: {
        title: string;
        version: string;
      } & {
        [key: string]: unknown;
      };
    } & {
      [key: string]: unknown;
    };
    /** @description Alarms that a rule would have raised */
    AlarmBacktest: {
      /** @description Alarms in the order of their openings, at most 500 */
      alarms: components['schemas']['BacktestAlarm'][];
      /** @description Number of episodes that raised no alarm because of `min_interval_ms` */
      suppressed: number;
      /** @description Number of frames that were judged */
      frames_read: number;
      /** @description Share of the seconds of the task up to `judged_to_ms` that frames cover, 0 to 1 */
      coverage: number;
      /**
       * Format: int64
       * @description Time up to which frames were judged, exclusive. It is earlier than `to_ms` when the backtest reached 10 s or 500 alarms, and when later frames are not stored yet; continue from there. It is the end of a stream that ended before `to_ms`
       */
      judged_to_ms: number;
    };
    /** @description Alarm that a rule would have raised */
    BacktestAlarm: {
      /** @description Identifier; the same rule raises the same alarms again */
      alarm_id: string;
      /**
       * @description State at `judged_to_ms`
       * @enum {string}
       */
      state: 'open' | 'closed';
      /** @enum {string} */
      kind: 'object_present' | 'object_absent' | 'line_crossed' | 'source_down' | 'task_ended';
      /**
       * Format: int64
       * @description `frame_time_ms` at which the alarm opened
       */
      opened_ms: number;
      /**
       * Format: int64
       * @description `frame_time_ms` at which it closed; absent while open
       */
      closed_ms?: number;
      /** @description Episodes since the alarm before that `min_interval_ms` held back, and those beyond what a minute of the task may raise: 60 alarms of crossings, 300 of other conditions on objects */
      suppressed: number;
      evidence: components['schemas']['AlarmEvidence'];
      /** @description Labels of the objects during the alarm */
      labels: string[];
      /** @description Largest number of objects in one frame during the alarm */
      count_max: number;
      /** @description Tracks of the objects during the alarm, at most 20 */
      track_ids: string[];
      /**
       * @description `cleared`: the condition no longer holds. `gap`: no frame followed for 60 s. `schedule`: the schedule ended. `task_end`: the task ended. Absent while open
       * @enum {string}
       */
      closed_by?: 'cleared' | 'gap' | 'schedule' | 'task_end';
    };
    NewAlarmBacktest: {
      /**
       * Format: uuid
       * @description Video task whose frames are judged
       */
      task_id: string;
      /**
       * Format: int64
       * @description Earliest `frame_time_ms`, inclusive
       */
      from_ms: number;
      /**
       * Format: int64
       * @description Latest `frame_time_ms`, exclusive; at most 6 hours after `from_ms`
       */
      to_ms: number;
      when: components['schemas']['RuleCondition'];
      schedule?: components['schemas']['RuleSchedule'];
      /**
       * @description Least time between the openings of two alarms, in milliseconds. A condition that still holds when it has passed raises its alarm then; others count as `suppressed`. Crossings raise 60 alarms a minute of a task at most, other conditions on objects 300, by the times of its frames and over all rules; those beyond count as `suppressed` too
       * @default 60000
       */
      min_interval_ms: number;
    };
    RuleCondition:
      | components['schemas']['ObjectPresent']
      | components['schemas']['ObjectAbsent']
      | components['schemas']['LineCrossed']
      | components['schemas']['SourceDown']
      | components['schemas']['TaskEnded'];
    /** @description Objects are present */
    ObjectPresent: {
      /**
       * @description discriminator enum property added by openapi-typescript
       * @enum {string}
       */
      kind: 'object_present';
      /** @description Labels of the objects. A label that the task does not detect matches no object */
      labels: string[];
      /** @description Score threshold, 0 to 1. When omitted, the task's threshold applies */
      min_score?: number;
      /** @description Polygon on the image: 3 to 16 corners `[x, y]`, each coordinate 0 to 1. Its edges do not cross or touch each other. Objects whose anchor lies outside do not count */
      region?: [number, number][];
      /**
       * @description Point of the box used as position of the object
       * @default bottom_center
       * @enum {string}
       */
      anchor: 'bottom_center' | 'center';
      /**
       * @description Objects that must be present at once
       * @default 1
       */
      min_count: number;
      /**
       * @description Milliseconds that the objects must be present, without gaps
       * @default 0
       */
      for_ms: number;
      /**
       * @description Milliseconds of absence after which the alarm closes, without gaps; at least two sampling periods of the task, in whole seconds, apply
       * @default 5000
       */
      clear_ms: number;
    };
    /** @description No such object is present while the camera sends frames */
    ObjectAbsent: {
      /**
       * @description discriminator enum property added by openapi-typescript
       * @enum {string}
       */
      kind: 'object_absent';
      /** @description Labels of the objects. A label that the task does not detect matches no object */
      labels: string[];
      /** @description Score threshold, 0 to 1. When omitted, the task's threshold applies */
      min_score?: number;
      /** @description Polygon on the image: 3 to 16 corners `[x, y]`, each coordinate 0 to 1. Its edges do not cross or touch each other. Objects whose anchor lies outside do not count */
      region?: [number, number][];
      /**
       * @description Point of the box used as position of the object
       * @default bottom_center
       * @enum {string}
       */
      anchor: 'bottom_center' | 'center';
      /** @description Milliseconds of absence, without gaps */
      for_ms: number;
    };
    /** @description The anchor of one object crosses a line. It must be seen in two frames on each side, without a gap between them; frames in which the object is not found do not count */
    LineCrossed: {
      /**
       * @description discriminator enum property added by openapi-typescript
       * @enum {string}
       */
      kind: 'line_crossed';
      /** @description Labels of the objects. A label that the task does not detect matches no object */
      labels: string[];
      /** @description Score threshold, 0 to 1. When omitted, the task's threshold applies */
      min_score?: number;
      /** @description Line on the image from the first to the second point `[x, y]`, each coordinate 0 to 1 */
      line: [number, number][];
      /**
       * @description Direction of the crossing, as seen from the first point of the line towards the second
       * @default both
       * @enum {string}
       */
      direction: 'both' | 'left_to_right' | 'right_to_left';
      /**
       * @description Point of the box used as position of the object
       * @default bottom_center
       * @enum {string}
       */
      anchor: 'bottom_center' | 'center';
    };
    /** @description A live stream delivers no frames. It never applies to uploaded videos */
    SourceDown: {
      /**
       * @description discriminator enum property added by openapi-typescript
       * @enum {string}
       */
      kind: 'source_down';
      /**
       * @description Milliseconds without a frame; at least two sampling periods of the stream apply
       * @default 60000
       */
      for_ms: number;
    };
    /** @description The task ends */
    TaskEnded: {
      /**
       * @description discriminator enum property added by openapi-typescript
       * @enum {string}
       */
      kind: 'task_ended';
      /**
       * @description Final states that raise the alarm
       * @default [
       *       "failed"
       *     ]
       */
      statuses: ('succeeded' | 'stopped' | 'failed' | 'refunded')[];
    };
    /** @description Times at which the rule applies. It does not restrict uploaded videos, whose frames have no time of day */
    RuleSchedule: {
      /** @description IANA time zone, such as `Europe/Berlin`; daylight saving time is taken into account */
      time_zone: string;
      windows: components['schemas']['ScheduleWindow'][];
    };
    ScheduleWindow: {
      /** @description Days on which the window begins */
      days: ('mon' | 'tue' | 'wed' | 'thu' | 'fri' | 'sat' | 'sun')[];
      /** @description Begin, `HH:MM` local time, inclusive */
      from: string;
      /** @description End, `HH:MM` local time or `24:00`, exclusive. An earlier time than `from` is on the next day */
      to: string;
    };
    AlarmRuleList: {
      items: components['schemas']['AlarmRule'][];
    };
    /** @description Rule that raises alarms */
    AlarmRule: {
      /** @description Your own name of the rule */
      rule_id: string;
      /**
       * Format: int64
       * @description Version of what is judged; it grows with every change but one of `name`
       */
      version: number;
      name: string;
      /**
       * @description Whether the rule raises alarms
       * @default true
       */
      enabled: boolean;
      scope?: components['schemas']['RuleScope'];
      when: components['schemas']['RuleCondition'];
      schedule?: components['schemas']['RuleSchedule'];
      /**
       * @description Least time between the openings of two alarms, in milliseconds. A condition that still holds when it has passed raises its alarm then; others count as `suppressed`. Crossings raise 60 alarms a minute of a task at most, other conditions on objects 300, by the times of its frames and over all rules; those beyond count as `suppressed` too
       * @default 60000
       */
      min_interval_ms: number;
      /** Format: date-time */
      created_at: string;
      /** Format: date-time */
      updated_at: string;
    };
    /** @description Tasks that a rule applies to: those that one of the lists names. Absent: all tasks */
    RuleScope: {
      /** @description Tasks with one of these `client_ref`, including later ones */
      client_refs?: string[];
      /** @description These tasks */
      task_ids?: string[];
    };
    /** @description Rule that raises alarms, and how often it was right */
    AlarmRuleWithVerdicts: {
      /** @description Your own name of the rule */
      rule_id: string;
      /**
       * Format: int64
       * @description Version of what is judged; it grows with every change but one of `name`
       */
      version: number;
      name: string;
      /**
       * @description Whether the rule raises alarms
       * @default true
       */
      enabled: boolean;
      scope?: components['schemas']['RuleScope'];
      when: components['schemas']['RuleCondition'];
      schedule?: components['schemas']['RuleSchedule'];
      /**
       * @description Least time between the openings of two alarms, in milliseconds. A condition that still holds when it has passed raises its alarm then; others count as `suppressed`. Crossings raise 60 alarms a minute of a task at most, other conditions on objects 300, by the times of its frames and over all rules; those beyond count as `suppressed` too
       * @default 60000
       */
      min_interval_ms: number;
      /** Format: date-time */
      created_at: string;
      /** Format: date-time */
      updated_at: string;
      verdicts: components['schemas']['AlarmVerdicts'];
    };
    /** @description Alarms of the last 7 days by their verdict */
    AlarmVerdicts: {
      /** @description Alarms without a review */
      none: number;
      /** @description Alarms that were rightly raised */
      confirmed: number;
      /** @description Alarms that were wrongly raised */
      false_alarm: number;
    };
    NewAlarmRule: {
      /** @description Name to show, at most 100 characters */
      name: string;
      /**
       * @description Whether the rule raises alarms
       * @default true
       */
      enabled: boolean;
      scope?: components['schemas']['RuleScope'];
      when: components['schemas']['RuleCondition'];
      schedule?: components['schemas']['RuleSchedule'];
      /**
       * @description Least time between the openings of two alarms, in milliseconds. A condition that still holds when it has passed raises its alarm then; others count as `suppressed`. Crossings raise 60 alarms a minute of a task at most, other conditions on objects 300, by the times of its frames and over all rules; those beyond count as `suppressed` too
       * @default 60000
       */
      min_interval_ms: number;
    };
    AlarmPage: {
      items: components['schemas']['Alarm'][];
      /** @description Cursor of the next page; empty on the last page */
      next_cursor: string;
      /** @description Cursor of alarms that open later. Send it without `order` */
      resume_cursor: string;
    };
    /** @description Alarm that a rule raised */
    Alarm: {
      /**
       * Format: uuid
       * @description Identifier of the alarm
       */
      alarm_id: string;
      /** @description 1 when the alarm opened, greater with every change of it */
      version: number;
      /** @description Rule that raised the alarm */
      rule_id: string;
      /**
       * Format: int64
       * @description Version of the rule that raised it
       */
      rule_version: number;
      /** Format: uuid */
      task_id: string;
      /** @description `client_ref` of the task; absent without one */
      client_ref?: string;
      /** @description Scene of the task */
      scene_code?: string;
      /**
       * @description `open` while the condition of the rule holds
       * @enum {string}
       */
      state: 'open' | 'closed';
      /** @enum {string} */
      kind: 'object_present' | 'object_absent' | 'line_crossed' | 'source_down' | 'task_ended';
      /**
       * Format: int64
       * @description `frame_time_ms` at which the alarm opened
       */
      opened_ms: number;
      /**
       * Format: int64
       * @description `frame_time_ms` at which it closed; absent while open
       */
      closed_ms?: number;
      /** @description Episodes since the alarm before that `min_interval_ms` held back, and those beyond what a minute of the task may raise: 60 alarms of crossings, 300 of other conditions on objects */
      suppressed: number;
      evidence: components['schemas']['AlarmEvidence'];
      /** @description Labels of the objects during the alarm */
      labels: string[];
      /** @description Largest number of objects in one frame during the alarm */
      count_max: number;
      /** @description Tracks of the objects during the alarm, at most 20 */
      track_ids: string[];
      /**
       * @description `cleared`: the condition no longer holds. `gap`: no frame followed for 60 s. `schedule`: the schedule ended. `rule`: the rule was changed, disabled or deleted. `task_end`: the task ended. Absent while open
       * @enum {string}
       */
      closed_by?: 'cleared' | 'gap' | 'schedule' | 'rule' | 'task_end';
      /** @description Image of the object; absent in alarms of an earlier release */
      snapshot?: {
        /**
         * @description `available`: an image is stored, and expires as images of tracks do. `pending`: none is stored yet; the event `alarm.updated` follows when one is stored within a day of the last event of the alarm. `none`: no object raised the alarm. `off`: the task has no snapshots
         * @enum {string}
         */
        state: 'available' | 'pending' | 'none' | 'off';
        /** @description Path of the image, to be read with your API key; present for `available` and `pending` */
        path?: string;
        /**
         * Format: int64
         * @description `frame_time_ms` of the frame that it is cut from, once it is available
         */
        frame_time_ms?: number;
      };
      /**
       * Format: int64
       * @description Number of its opening in your log; absent in events, which have their own
       */
      sequence?: number;
      /**
       * Format: date-time
       * @description Time at which the alarm was raised
       */
      created_at: string;
      /**
       * Format: date-time
       * @description Time of its last change
       */
      updated_at: string;
      /** @description Your verdict; absent in events */
      review?: {
        /**
         * @description `confirmed`: rightly raised. `false_alarm`: wrongly raised. `none`: not reviewed
         * @enum {string}
         */
        verdict: 'none' | 'confirmed' | 'false_alarm';
        /** @description Note of the review; absent without one */
        note?: string;
        /**
         * Format: date-time
         * @description Time of the review; absent before
         */
        reviewed_at?: string;
      };
    };
    NewAlarmReview: {
      /**
       * @description `confirmed`, `false_alarm`, or `none` to withdraw a verdict
       * @enum {string}
       */
      verdict: 'none' | 'confirmed' | 'false_alarm';
      /** @description Note of your own, at most 500 characters */
      note?: string;
    };
    EventPage: {
      items: components['schemas']['Event'][];
      /** @description Cursor of the next page; empty on the last page */
      next_cursor: string;
      /** @description Cursor of everything that follows: events after this page, and with `order=newest` events that are logged after the first page. Send it without `order`, or to the stream of events */
      resume_cursor: string;
    };
    /** @description Something that happened to your tasks, alarms or webhook endpoints */
    Event:
      | components['schemas']['TaskEvent']
      | components['schemas']['AlarmEvent']
      | components['schemas']['WebhookEndpointEvent']
      | components['schemas']['MissedEvents'];
    /** @description Outcome of an image call */
    ImageDetection: {
      /**
       * Format: uuid
       * @description Identifier of the call in the task history
       */
      task_id: string;
      /** @description Idempotency-Key of the call, as it was first sent */
      request_id: string;
      /**
       * @description Status of the call; each image has its own in `results`
       * @enum {string}
       */
      status: 'succeeded';
      /** @description One entry per image, in upload order */
      results: components['schemas']['ImageResult'][];
      /**
       * @description Present only on an idempotent replay
       * @enum {boolean}
       */
      replayed?: true;
    };
    /** @description Outcome of one image */
    ImageResult: components['schemas']['SucceededImage'] | components['schemas']['FailedImage'];
    SucceededImage: {
      /** @description Zero-based index of the image in the upload */
      seq: number;
      /**
       * @description discriminator enum property added by openapi-typescript
       * @enum {string}
       */
      status: 'succeeded';
      /** @description Detected objects, highest score first */
      objects: components['schemas']['DetectedObject'][];
    };
    /** @description Object detected in an image */
    DetectedObject: {
      /** @description Label of the object, one of the labels of the scene */
      label: string;
      /** @description Confidence, 0 to 1; for a calibrated detector, the probability that the box is correct */
      score: number;
      bbox: components['schemas']['BoundingBox'];
    };
    FailedImage: {
      /** @description Zero-based index of the image in the upload */
      seq: number;
      /**
       * @description discriminator enum property added by openapi-typescript
       * @enum {string}
       */
      status: 'failed';
      /**
       * @description Reason of the failure; failed images are not charged
       * @enum {string}
       */
      error_code: 'OP-TASK-REQUEST-INVALID' | 'OP-TASK-UPSTREAM-DOWN' | 'OP-SYS-UNAVAILABLE';
    };
    NewImageDetection: {
      /** @description Image files: JPEG, PNG or WEBP, at most 8 MiB each, each with a file name */
      files: Blob[];
      /** @description Code of an enabled scene; default: `fire_smoke` */
      scene_code?: string;
    };
    /** @description Stored outcome of an image call */
    StoredImageDetection: {
      /**
       * Format: uuid
       * @description Identifier of the call in the task history
       */
      task_id: string;
      /** @description Idempotency-Key of the call, as it was first sent */
      request_id: string;
      /**
       * @description Status of the call; each image has its own in `results`
       * @enum {string}
       */
      status: 'succeeded';
      /** @description One entry per image, in upload order */
      results: components['schemas']['ImageResult'][];
      scene_code: string;
      /** Format: date-time */
      created_at: string;
      /**
       * Format: date-time
       * @description Time at which the detections are deleted
       */
      result_expires_at: string;
    };
    /** @description The API key of the request */
    Key: {
      /** @description Names the key in the audit log and to the operator; it is no secret */
      key_id: string;
      /** @description What the key may do; a key without limits has all of them */
      scopes: ('read' | 'create' | 'notify')[];
    };
    /** @description Link that reads one path without an API key */
    Link: {
      /** @description Path of the link; append it to the address of the API */
      url: string;
      /**
       * Format: date-time
       * @description Time at which the link expires
       */
      expires_at: string;
    };
    NewLink: {
      /** @description Path to share, without a query: `/v1/vision/tasks/{task_id}/video`, `/v1/vision/tasks/{task_id}/live-snapshot` or `/v1/vision/tasks/{task_id}/tracks/{track_id}/snapshot` */
      path: string;
      /** @description Seconds that the link is valid for */
      expires_in_s: number;
    };
    MqttEndpointList: {
      items: components['schemas']['MqttEndpoint'][];
    };
    /** @description An MQTT broker that events are published to */
    MqttEndpoint: {
      /** @description Your name of the endpoint */
      endpoint_id: string;
      /** @description Address of the broker */
      url: string;
      /**
       * @description Kind of login
       * @enum {string}
       */
      login: 'none' | 'password' | 'certificate';
      /** @description User name of a login with a password */
      username?: string;
      /** @description Beginning of all topics */
      topic_prefix: string;
      /** @description Types of events to send; all types, those to come included, when absent */
      event_types?: (
        | 'task.running'
        | 'task.resolving'
        | 'task.succeeded'
        | 'task.stopped'
        | 'task.failed'
        | 'task.refunded'
        | 'alarm.opened'
        | 'alarm.updated'
        | 'alarm.closed'
        | 'webhook_endpoint.disabled'
        | 'webhook_endpoint.test'
        | 'mqtt_endpoint.disabled'
        | 'events.missed'
      )[];
      /** @description Whether events are published */
      enabled: boolean;
      /**
       * @description Why it is disabled: `failing` (the broker has acknowledged nothing for 72 h, in at least 10 connections), `requested` (by you), `key_revoked` (the API key that changed the endpoint last was revoked), `no_key` (you had no valid API key)
       * @enum {string}
       */
      disabled_reason?: 'failing' | 'requested' | 'key_revoked' | 'no_key';
      /**
       * Format: date-time
       * @description Since when there is a connection; absent without one
       */
      connected_since?: string;
      /**
       * Format: date-time
       * @description Time of the first failure since the broker worked last
       */
      failing_since?: string;
      /**
       * @description How the last connection failed or ended: `unreachable` (no address that may be connected to, or no answer to a connection), `timeout` (no login within 10 s, or no acknowledgement within 30 s), `tls_invalid`, `refused` (the broker refused the login), `closed` (by the broker), `protocol_error`
       * @enum {string}
       */
      last_failure?: 'unreachable' | 'timeout' | 'tls_invalid' | 'refused' | 'closed' | 'protocol_error';
      /**
       * Format: int64
       * @description The broker has acknowledged all events up to this `sequence` that it is sent
       */
      sequence: number;
      /** Format: date-time */
      created_at: string;
      /** Format: date-time */
      updated_at: string;
    };
    MqttEndpointRequest: {
      /** @description Address of the broker: `mqtts`, port 8883, without user name, password and path. Names are resolved for each connection; addresses that are not public are refused, unless the operator allows them */
      url: string;
      /** @description How to log in: with a user name and a password, or with a client certificate. Absent: the previous login, while `url` stays the same; null: none */
      login?: components['schemas']['MqttPasswordLogin'] | components['schemas']['MqttCertificateLogin'] | null;
      /** @description Certificate authorities of the broker, instead of the public ones, PEM */
      server_ca?: string;
      /**
       * @description Beginning of all topics: up to eight parts of letters, digits and `._:-`, separated by `/`
       * @default vision
       */
      topic_prefix: string;
      /** @description Types of events to send; all types, those to come included, when absent */
      event_types?: (
        | 'task.running'
        | 'task.resolving'
        | 'task.succeeded'
        | 'task.stopped'
        | 'task.failed'
        | 'task.refunded'
        | 'alarm.opened'
        | 'alarm.updated'
        | 'alarm.closed'
        | 'webhook_endpoint.disabled'
        | 'webhook_endpoint.test'
        | 'mqtt_endpoint.disabled'
        | 'events.missed'
      )[];
      /**
       * @description Whether events are published. An endpoint that is enabled begins with the next event
       * @default true
       */
      enabled: boolean;
    };
    MqttPasswordLogin: {
      /** @description User name */
      username: string;
      /** @description Password. It is never returned */
      password?: string;
    };
    MqttCertificateLogin: {
      /** @description Client certificate, with those between it and its authority, PEM */
      certificate: string;
      /** @description Its private key, without a passphrase. It is never returned, PEM */
      private_key: string;
    };
    /** @description Settings of the subject of the API key */
    Settings: {
      /**
       * @description `tracks`: new video tasks store an image of each track and, for streams, answer live snapshots. `off`: neither
       * @enum {string}
       */
      snapshots: 'off' | 'tracks';
    };
    /** @description Format, one frame and objects of a live stream */
    StreamProbe: {
      /** @description Codec of the video as ffmpeg names it, such as `h264` */
      codec?: string;
      image?: components['schemas']['ImageSize'];
      /** @description Frames per second, measured over about a second, 60 at most; absent if fewer than two frames came */
      fps?: number;
      /** @description Newest frame as an image; absent if the operator has turned it off */
      snapshot?: {
        /** @enum {string} */
        media_type: 'image/jpeg';
        /** @description Image in base64, its longest side 1280 pixels at most */
        data: string;
      };
      /** @description Objects of the frame, highest score first; with `scene_code`. Their threshold is that of a new task. */
      objects?: components['schemas']['DetectedObject'][];
      /**
       * @description Whether another stream could start now; absent if the inference backend does not tell
       * @enum {string}
       */
      capacity?: 'available' | 'none';
      /** @description Absent if a frame was read; `codec`, `image`, `fps`, `snapshot` and `objects` are absent otherwise */
      problem?: {
        /**
         * @description Why the stream gave no frame. `no_frame`: none came in time, or the peer failed after the handshake. `not_supported`: the stream answered, but the inference backend does not read streams for probes.
         * @enum {string}
         */
        reason: 'auth_failed' | 'codec_unsupported' | 'no_video_track' | 'no_frame' | 'not_supported';
        /** @description Suggested action */
        advice: string;
      };
    };
    /** @description Size in pixels, after the orientation of the video is applied */
    ImageSize: {
      width: number;
      height: number;
    };
    NewStreamProbeRequest: {
      /** @description Address of the stream: http, https, rtsp or rtmp, optionally with user name and password. The host is a public IP address or a fully qualified name (`camera.example.org`, not `camera`). The port must be one that streams commonly use. */
      stream_url: string;
      /** @description Code of an enabled scene; the frame is then detected with it */
      scene_code?: string;
    };
    TaskPage: {
      items: components['schemas']['TaskHistoryEntry'][];
      /** @description Cursor of the next page; empty on the last page */
      next_cursor: string;
    };
    /** @description Video task or image call */
    TaskHistoryEntry: {
      /** Format: uuid */
      task_id: string;
      /** @description Idempotency-Key of the create request, as it was sent */
      request_id: string;
      scene_code: string;
      status: components['schemas']['TaskStatus'];
      /**
       * Format: date-time
       * @description Time at which the results are deleted
       */
      result_expires_at: string;
      /** Format: date-time */
      created_at: string;
      /** Format: date-time */
      updated_at: string;
      /** @enum {string} */
      kind: 'video' | 'image';
      /** @description `client_ref` of the create request; absent without one */
      client_ref?: string;
    };
    /** @description Video task */
    Task: {
      /** Format: uuid */
      task_id: string;
      /** @description Idempotency-Key of the create request, as it was sent */
      request_id: string;
      scene_code: string;
      status: components['schemas']['TaskStatus'];
      /**
       * Format: date-time
       * @description Time at which the results are deleted
       */
      result_expires_at: string;
      /** Format: date-time */
      created_at: string;
      /** Format: date-time */
      updated_at: string;
    };
    NewStreamTask: {
      /** @description Code of an enabled scene */
      scene_code: string;
      /** @description Address of the stream: http, https, rtsp or rtmp, optionally with user name and password. The host is a public IP address or a fully qualified name (`camera.example.org`, not `camera`). The port must be one that streams commonly use. */
      stream_url: string;
    };
    /** @description Deleted task or image call */
    TaskDeletion: {
      /** Format: uuid */
      task_id: string;
      /**
       * Format: date-time
       * @description Time of the deletion
       */
      deleted_at: string;
    };
    ResultPage: {
      items: components['schemas']['ResultFrame'][];
      /** @description Cursor of the next page; empty if no further frame is stored yet */
      next_cursor: string;
      /** @description Cursor that continues after this page, including frames not stored yet. Empty when nothing more is to come: the task has ended and all frames were delivered, or it ended 15 minutes ago. Stop then; an empty cursor starts from the first frame */
      resume_cursor: string;
    };
    /** @description Result frame of a video task */
    ResultFrame: {
      /** @description Identifier of the frame: `<task_id>-<frame number>` */
      frame_id: string;
      /**
       * Format: int64
       * @description Time of the frame in milliseconds: offset in the video (PTS) for files, Unix time for live streams
       */
      frame_time_ms: number;
      image: components['schemas']['ImageSize'];
      /** @description Objects at or above the effective score threshold, highest score first */
      objects: components['schemas']['TrackedObject'][];
      /** @description Number of objects before score filtering; present only if `min_score` was sent */
      objects_total?: number;
    };
    /** @description State of the source of a video task */
    TaskSource: {
      /**
       * @description Kind of the source: live stream or uploaded video
       * @enum {string}
       */
      kind: 'stream' | 'upload';
      /**
       * @description `waiting`: no connection is attempted yet; or the stream has been away for over ten minutes and is connected to about once a minute (`give_up_after_s`). `connecting`: no frame has arrived yet. `streaming`: frames arrive. `stalled`: connected, no frame for 2 s. `blocked`: frames wait because the service is busy. `reconnecting`: the connection was lost. `processing`: frames of an uploaded video are read. `unknown`: the inference backend does not report it. `ended`: the task has ended
       * @enum {string}
       */
      state:
        | 'connecting'
        | 'streaming'
        | 'stalled'
        | 'blocked'
        | 'reconnecting'
        | 'waiting'
        | 'processing'
        | 'unknown'
        | 'ended';
      /**
       * Format: int64
       * @description Unix time since which the state holds, in milliseconds
       */
      since_ms: number;
      /**
       * Format: int64
       * @description Unix time since which a live stream has given no frame, in milliseconds; left out while it gives some
       */
      away_since_ms?: number;
      /**
       * Format: int64
       * @description Unix time at which the task fails if no frame arrives until then, in milliseconds (`give_up_after_s`)
       */
      gives_up_at_ms?: number;
      /**
       * Format: int64
       * @description `frame_time_ms` of the last stored frame; of an upload, compare it with `duration_ms`
       */
      last_frame_time_ms?: number;
      /**
       * Format: int64
       * @description Playing time of an uploaded video, in milliseconds
       */
      duration_ms?: number;
      /** @description Frame rate at which the source is analysed, in frames per second */
      sample_fps?: number;
      /** @description Rate at which frames arrived over three seconds, at most `sample_fps`, in frames per second */
      measured_fps?: number;
      /** @description Whether the service is too slow for the frame rate */
      is_behind?: boolean;
      /** @description Video codec, such as `h264` or `hevc` */
      codec?: string;
      image?: components['schemas']['ImageSize'];
      frames: {
        /** @description Number of stored frames */
        stored: number;
        /** @description Frames that were read and not stored. `fresher`: a newer frame was there. `no_number`, `not_held`, `unsent`: a part of the service was unavailable */
        dropped?: {
          fresher: number;
          no_number: number;
          not_held: number;
          unsent: number;
        };
      };
      /** @description Number of lost connections */
      reconnects?: number;
      /** @description Share of the last 24 hours of the task that has frames */
      coverage: {
        /**
         * Format: int64
         * @description Start of the time, as `frame_time_ms`
         */
        from_ms: number;
        /**
         * Format: int64
         * @description End of the time, exclusive
         */
        to_ms: number;
        /** @description Time with frames, in milliseconds */
        covered_ms: number;
        /** @description Number of gaps: stretches without frames */
        gaps: number;
      };
      /** @description End of the task; present only if it has ended */
      ended?: {
        status: components['schemas']['TaskStatus'];
        /**
         * @description Reason of a `failed` or `refunded` task
         * @enum {string}
         */
        reason?:
          | 'unreachable'
          | 'source_lost'
          | 'stream_ended'
          | 'auth_failed'
          | 'not_found'
          | 'codec_unsupported'
          | 'no_video_track'
          | 'unreadable'
          | 'format_changed'
          | 'video_too_long'
          | 'video_too_dense'
          | 'too_much_data'
          | 'decode_time_exceeded'
          | 'decoder_failed'
          | 'service_fault'
          | 'unknown';
        /** @description Suggested action of the caller, as an English sentence */
        advice?: string;
      };
      /** @description Earlier states, newest first; at most 1,000 per task, short ones are left out first */
      items: {
        /**
         * Format: int64
         * @description Unix time of the change, in milliseconds
         */
        at_ms: number;
        /** @enum {string} */
        state: 'connecting' | 'streaming' | 'stalled' | 'blocked' | 'reconnecting' | 'waiting' | 'processing';
        /**
         * @description Why the last connection ended
         * @enum {string}
         */
        reason?:
          | 'unreachable'
          | 'source_lost'
          | 'stream_ended'
          | 'auth_failed'
          | 'not_found'
          | 'codec_unsupported'
          | 'no_video_track'
          | 'unreadable'
          | 'format_changed'
          | 'video_too_long'
          | 'video_too_dense'
          | 'too_much_data'
          | 'decode_time_exceeded'
          | 'decoder_failed'
          | 'service_fault'
          | 'unknown';
      }[];
      /** @description Cursor of the next page; empty on the last page */
      next_cursor: string;
    };
    /** @description Objects of a video task over time, and where it has no frames */
    Timeline: {
      /** @description Length of a bucket, in milliseconds */
      bucket_ms: number;
      /** @description Score from which objects and tracks count */
      min_score: number;
      /**
       * Format: int64
       * @description `frame_time_ms` of the newest frame that the answer counts; null without a frame
       */
      as_of_ms: number | null;
      coverage: components['schemas']['Coverage'];
      /** @description Buckets in order; those without coverage and objects are left out */
      items: {
        /**
         * Format: int64
         * @description Start of the bucket, a multiple of `bucket_ms`
         */
        from_ms: number;
        /** @description Time of the bucket with frames, in milliseconds */
        covered_ms: number;
        /** @description Number of frames */
        frames: number;
        labels: {
          label: string;
          /** @description Number of tracks whose first frame is in the bucket */
          tracks_begun: number;
          /** @description Largest number of objects in one frame */
          objects_max: number;
          /** @description Number of frames with an object */
          object_frames: number;
        }[];
      }[];
      /** @description Time without frames, in order: the 1,000 longest gaps. A gap with several reasons is several entries that follow each other */
      gaps: {
        /**
         * Format: int64
         * @description Start of the gap
         */
        from_ms: number;
        /**
         * Format: int64
         * @description End of the gap, exclusive
         */
        to_ms: number;
        /**
         * @description `source_away`: the camera could not be reached. `source_silent`: the source was connected and had no frame. `overload`: the service was too busy. `worker_lost`: a worker failed and another one took over. `not_started`: analysis had not begun. `unknown`: the inference backend does not report it
         * @enum {string}
         */
        reason: 'source_away' | 'source_silent' | 'overload' | 'worker_lost' | 'not_started' | 'unknown';
      }[];
    };
    /** @description Share of a period that has frames, within the time of the task */
    Coverage: {
      /**
       * Format: int64
       * @description Start of the time, as `frame_time_ms`
       */
      from_ms: number;
      /**
       * Format: int64
       * @description End of the time, exclusive
       */
      to_ms: number;
      /** @description Time with frames, in milliseconds */
      covered_ms: number;
      /** @description Number of gaps: stretches without frames */
      gaps: number;
    };
    TrackPage: {
      items: components['schemas']['Track'][];
      /** @description Cursor of the next page; empty on the last page */
      next_cursor: string;
      /** @description With `order=changed`: returns each track that changes after this page, with its latest state. With `order=oldest`: returns tracks that begin later. Empty with `order=newest` and when no track can follow */
      resume_cursor: string;
      /**
       * Format: int64
       * @description `frame_time_ms` of the newest frame that the answer counts; null without a frame
       */
      as_of_ms: number | null;
    };
    /** @description One object of a video task, from its first to its last frame */
    Track: {
      /** @description The `track_id` of the objects of this track */
      track_id: string;
      /** @description Label of the object with the best score */
      label: string;
      /**
       * @description `ended`: no object for 3 s of frame time, a newer attempt began, or the task has ended. As of the newest frame: while a camera is unavailable, its last tracks stay `active`
       * @enum {string}
       */
      state: 'active' | 'ended';
      /**
       * @description `left`: frames followed without the object. `gap`: no frame followed for 3 s. `attempt`: another worker continued the task with new tracks. `task_end`: the task ended. Absent while active
       * @enum {string}
       */
      ended_by?: 'left' | 'gap' | 'attempt' | 'task_end';
      /**
       * Format: int64
       * @description `frame_time_ms` of the first frame with the object
       */
      first_time_ms: number;
      /**
       * Format: int64
       * @description `frame_time_ms` of the last frame with the object
       */
      last_time_ms: number;
      /** @description Frames with the object */
      frames: number;
      /** @description The object with the highest score; among equal scores the largest, then the first */
      best: {
        frame_id: string;
        /** Format: int64 */
        frame_time_ms: number;
        score: number;
        bbox: components['schemas']['BoundingBox'];
      };
      /** @description Box in the first frame */
      first_bbox: {
        /** @enum {string} */
        format: 'cxcywh_normalized';
        /** @description Horizontal centre of the box, 0 to 1 of the image width */
        cx: number;
        /** @description Vertical centre of the box, 0 to 1 of the image height */
        cy: number;
        /** @description Width of the box, 0 to 1 of the image width */
        width: number;
        /** @description Height of the box, 0 to 1 of the image height */
        height: number;
      };
      /** @description Box in the last frame */
      last_bbox: {
        /** @enum {string} */
        format: 'cxcywh_normalized';
        /** @description Horizontal centre of the box, 0 to 1 of the image width */
        cx: number;
        /** @description Vertical centre of the box, 0 to 1 of the image height */
        cy: number;
        /** @description Width of the box, 0 to 1 of the image width */
        width: number;
        /** @description Height of the box, 0 to 1 of the image height */
        height: number;
      };
      /** @description Mean score over all frames, 0 to 1, 4 decimals */
      mean_score: number;
      /** @description Image of the object, at `/v1/vision/tasks/{task_id}/tracks/{track_id}/snapshot` */
      snapshot: {
        /**
         * @description `pending`: an image can still be stored, as of the newest frame. `none`: there is no image, see `reason`
         * @enum {string}
         */
        state: 'available' | 'pending' | 'none';
        /**
         * @description `snapshots_off`: the task has no snapshots. `too_short`: fewer than 3 frames. `below_score`: every score is below the threshold of the task. `not_taken`: too many tracks at once, no frame was decoded in time, or the backend takes none. `expired`: the image is no longer retained. `not_supported`: an earlier release created the task
         * @enum {string}
         */
        reason?: 'snapshots_off' | 'too_short' | 'below_score' | 'not_taken' | 'expired' | 'not_supported';
        /** @description Frame that the image is cut from */
        frame_id?: string;
        /**
         * Format: int64
         * @description `frame_time_ms` of that frame
         */
        frame_time_ms?: number;
        /** @description Width of the image in pixels, 640 at most */
        width?: number;
        /** @description Height of the image in pixels, 640 at most */
        height?: number;
        /**
         * Format: date-time
         * @description Time at which the image is deleted
         */
        expires_at?: string;
      };
    };
    Usage: {
      video: components['schemas']['DailyUsage'];
      image: components['schemas']['DailyUsage'];
    };
    /** @description Usage of one of the day's quotas */
    DailyUsage: {
      /** @description Units per day */
      limit: number;
      /** @description Units used today, including units reserved for work in progress */
      used: number;
      remaining: number;
      /**
       * Format: date-time
       * @description Start of the next quota day, 00:00 UTC+8
       */
      resets_at: string;
    };
    UsageDays: {
      items: components['schemas']['UsageDay'][];
    };
    /** @description Usage of one day */
    UsageDay: {
      /**
       * Format: date
       * @description Quota day, YYYY-MM-DD in UTC+8
       */
      day: string;
      /** @description Video tasks charged, including work in progress */
      video: number;
      /** @description Images charged, including work in progress */
      image: number;
    };
    NewUploadTask: {
      /** @description Code of an enabled scene */
      scene_code: string;
      /**
       * Format: binary
       * @description Video file: MP4 or MOV content, at most 512 MiB, with a file name
       */
      file: Blob;
    };
    AcceptedDelivery: {
      /**
       * Format: uuid
       * @description Identifier of the delivery, in the list of deliveries of the endpoint
       */
      delivery_id: string;
    };
    WebhookEndpointList: {
      items: components['schemas']['WebhookEndpoint'][];
    };
    /** @description Address that events are sent to */
    WebhookEndpoint: {
      /** @description Your name of the endpoint */
      endpoint_id: string;
      /** @description Address that webhooks are sent to */
      url: string;
      /** @description Types of events to send; all types, those to come included, when absent */
      event_types?: (
        | 'task.running'
        | 'task.resolving'
        | 'task.succeeded'
        | 'task.stopped'
        | 'task.failed'
        | 'task.refunded'
        | 'alarm.opened'
        | 'alarm.updated'
        | 'alarm.closed'
        | 'webhook_endpoint.disabled'
        | 'webhook_endpoint.test'
        | 'mqtt_endpoint.disabled'
        | 'events.missed'
      )[];
      /** @description Whether webhooks are sent */
      enabled: boolean;
      /**
       * @description Why it is disabled: `failing` (no webhook was delivered for 72 h in at least 10 attempts), `gone` (the receiver answered 410), `requested` (by you), `key_revoked` (the API key that changed the endpoint last was revoked), `no_key` (you had no valid API key)
       * @enum {string}
       */
      disabled_reason?: 'failing' | 'gone' | 'requested' | 'key_revoked' | 'no_key';
      /**
       * Format: date-time
       * @description Time of the first failed attempt since the last success
       */
      failing_since?: string;
      /** Format: date-time */
      created_at: string;
      /** Format: date-time */
      updated_at: string;
    };
    /** @description A webhook endpoint with the secret that was made for it */
    NewWebhookEndpoint: {
      /** @description Your name of the endpoint */
      endpoint_id: string;
      /** @description Address that webhooks are sent to */
      url: string;
      /** @description Types of events to send; all types, those to come included, when absent */
      event_types?: (
        | 'task.running'
        | 'task.resolving'
        | 'task.succeeded'
        | 'task.stopped'
        | 'task.failed'
        | 'task.refunded'
        | 'alarm.opened'
        | 'alarm.updated'
        | 'alarm.closed'
        | 'webhook_endpoint.disabled'
        | 'webhook_endpoint.test'
        | 'mqtt_endpoint.disabled'
        | 'events.missed'
      )[];
      /** @description Whether webhooks are sent */
      enabled: boolean;
      /**
       * @description Why it is disabled: `failing` (no webhook was delivered for 72 h in at least 10 attempts), `gone` (the receiver answered 410), `requested` (by you), `key_revoked` (the API key that changed the endpoint last was revoked), `no_key` (you had no valid API key)
       * @enum {string}
       */
      disabled_reason?: 'failing' | 'gone' | 'requested' | 'key_revoked' | 'no_key';
      /**
       * Format: date-time
       * @description Time of the first failed attempt since the last success
       */
      failing_since?: string;
      /** Format: date-time */
      created_at: string;
      /** Format: date-time */
      updated_at: string;
      /** @description Secret of the signatures (`whsec_…`). It is in this response only: the service cannot show it again. Absent when you chose it */
      secret?: string;
    };
    WebhookEndpointRequest: {
      /** @description Address to send webhooks to: `https`, port 443, without user name and password. Names are resolved for each webhook; addresses that are not public are refused, unless the operator allows them */
      url: string;
      /** @description Types of events to send; all types, those to come included, when absent */
      event_types?: (
        | 'task.running'
        | 'task.resolving'
        | 'task.succeeded'
        | 'task.stopped'
        | 'task.failed'
        | 'task.refunded'
        | 'alarm.opened'
        | 'alarm.updated'
        | 'alarm.closed'
        | 'webhook_endpoint.disabled'
        | 'webhook_endpoint.test'
        | 'mqtt_endpoint.disabled'
        | 'events.missed'
      )[];
      /** @description Secret of your choice: `whsec_` and 24 to 64 random bytes in base64 */
      secret?: string;
      /**
       * @description Whether webhooks are sent. An endpoint that is enabled begins with the next event, and with what is held
       * @default true
       */
      enabled: boolean;
    };
    WebhookDeliveryPage: {
      items: components['schemas']['WebhookDelivery'][];
      /** @description Cursor of the next page; empty on the last page */
      next_cursor: string;
    };
    /** @description One event for one webhook endpoint */
    WebhookDelivery: {
      /** Format: uuid */
      delivery_id: string;
      /**
       * Format: uuid
       * @description `event_id` of the event; the header `webhook-id`
       */
      event_id: string;
      /** @description Type of the event */
      type: string;
      /**
       * @description `pending`: due, or waiting for its next attempt. `delivered`. `failed`: no attempt is left. `held`: the endpoint is disabled
       * @enum {string}
       */
      state: 'pending' | 'delivered' | 'failed' | 'held';
      /** @description Attempts in their order, the last 20 */
      attempts: components['schemas']['WebhookAttempt'][];
      /**
       * Format: date-time
       * @description Time of the next attempt of a `pending` delivery
       */
      next_at?: string;
      /** Format: date-time */
      created_at: string;
    };
    WebhookAttempt: {
      /** Format: date-time */
      at: string;
      /**
       * @description `delivered`: status 2xx. `http_status`: another status. `timeout`: no answer in time. `unreachable`: no connection, no valid answer, or an address that is not allowed. `tls_invalid`: the TLS handshake failed
       * @enum {string}
       */
      outcome: 'delivered' | 'http_status' | 'timeout' | 'unreachable' | 'tls_invalid';
      /** @description HTTP status; absent without an answer */
      status?: number;
      /** @description Duration of the attempt in milliseconds */
      duration_ms: number;
    };
    /** @description Events to send again */
    Recovery: {
      /** @description Number of deliveries that are due because of the request */
      deliveries: number;
      /**
       * Format: int64
       * @description Present when more is to be sent than one request takes: repeat the request with it once these are delivered
       */
      continue_from_ms?: number;
    };
    RecoveryRequest: {
      /**
       * Format: int64
       * @description Time of the earliest event to send again, in milliseconds since 1970
       */
      since_ms: number;
    };
    /** @description The new secret of a webhook endpoint */
    SecretRotation: {
      /** @description The new secret, in this response only; absent when you chose it */
      secret?: string;
      /**
       * Format: date-time
       * @description Time until which webhooks carry a signature of the old secret too
       */
      old_secret_expires_at?: string;
    };
    SecretRotationRequest: {
      /**
       * @description Seconds during which webhooks carry a signature of the old secret too
       * @default 86400
       */
      overlap_s: number;
      /** @description Secret of your choice: `whsec_` and 24 to 64 random bytes in base64 */
      secret?: string;
    };
  };
  responses: {
    /** @description - `not_found`: There is nothing at this address. */
    NotFound: {
      headers: {
        'X-Request-Id': components['headers']['X-Request-Id'];
        'X-Trace-Id': components['headers']['X-Trace-Id'];
        'RateLimit-Policy': components['headers']['RateLimit-Policy'];
        RateLimit: components['headers']['RateLimit'];
        'Cache-Control': components['headers']['Cache-Control'];
        [name: string]: unknown;
      };
      content: {
        'application/problem+json': components['schemas']['Problem'];
      };
    };
    /** @description - `method_not_allowed`: Use GET. */
    MethodNotAllowed: {
      headers: {
        'X-Request-Id': components['headers']['X-Request-Id'];
        'X-Trace-Id': components['headers']['X-Trace-Id'];
        'RateLimit-Policy': components['headers']['RateLimit-Policy'];
        RateLimit: components['headers']['RateLimit'];
        'Cache-Control': components['headers']['Cache-Control'];
        Allow: components['headers']['Allow'];
        [name: string]: unknown;
      };
      content: {
        'application/problem+json': components['schemas']['Problem'];
      };
    };
  };
  parameters: never;
  requestBodies: never;
  headers: {
    /** @description Identifier of the request, taken from the request or generated */
    'X-Request-Id': string;
    /** @description Identifier of the trace of the request; include it in support requests */
    'X-Trace-Id': string;
    /** @description Limits that apply to the request (draft-ietf-httpapi-ratelimit-headers): `q` per `w` seconds, or `q` at once */
    'RateLimit-Policy': string;
    /** @description Remaining allowance: `r` requests, reset after `t` seconds */
    RateLimit: string;
    /** @description `no-store`: the response contains a secret or is valid only now. `private, no-cache`: it may be stored for its caller, and is revalidated by its `ETag` */
    'Cache-Control': 'no-store' | 'private, no-cache';
    /** @description Methods that the path supports */
    Allow: string;
    /** @description Authentication scheme */
    'WWW-Authenticate': 'Bearer';
    /** @description Seconds to wait before a retry */
    'Retry-After': number;
    /** @description Tells proxies not to buffer the response */
    'X-Accel-Buffering': 'no';
    /** @description Present if the response is an idempotent replay; nothing was charged again */
    'Idempotency-Replayed': 'true';
    /** @description Unit of ranges that the operation accepts */
    'Accept-Ranges': 'bytes';
    /** @description Strong entity tag of the content */
    ETag: string;
    /** @description Range of the content in the response and size of the content; with 416 only the size */
    'Content-Range': string;
    /** @description Time of the frame, as `frame_time_ms` of result frames: Unix time in milliseconds */
    'X-Frame-Time-Ms': number;
  };
  pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
  listScenes: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description All scenes */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "scenes": [
           *         {
           *           "scene_code": "person_vehicle",
           *           "name": "Persons and vehicles",
           *           "description": "Persons, bicycles, cars and other vehicles",
           *           "enabled": true,
           *           "labels": [
           *             "person",
           *             "bicycle",
           *             "car"
           *           ],
           *           "lower_bound": 0.3,
           *           "default_min_score": 0.8,
           *           "quality": {
           *             "method": "A small neural network. It judges each image and each frame of a video by itself.",
           *             "measured_on": "A surveillance video of a square in daylight, 665 people",
           *             "figures": [
           *               {
           *                 "measure": "recall",
           *                 "label": "person",
           *                 "input": "video",
           *                 "min_score": 0.8,
           *                 "value": 0.84
           *               }
           *             ],
           *             "limits": [
           *               "Objects lower than a twentieth of the image's height are missed."
           *             ]
           *           }
           *         }
           *       ]
           *     }
           */
          'application/json': components['schemas']['SceneList'];
        };
      };
      /** @description - OP-TASK-REQUEST-INVALID, `unknown_field`: This operation takes no query parameters. */
      400: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /**
       * @description - OP-AUTH-REQUIRED, `api_key_missing`: The request has no header Authorization. Send a valid key in the header "Authorization: Bearer <API_KEY>".
       *     - OP-AUTH-REQUIRED, `api_key_invalid`: The API key is malformed, unknown, expired or revoked. Send a valid key in the header "Authorization: Bearer <API_KEY>".
       */
      401: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'Cache-Control': components['headers']['Cache-Control'];
          'WWW-Authenticate': components['headers']['WWW-Authenticate'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description - `scope_missing`: This operation requires an API key with the scope read. */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /**
       * @description - OP-QUOTA-RATE-LIMITED, `rate_exceeded`: The subject sends too many requests per second. Retry after the time in Retry-After.
       *     - OP-QUOTA-RATE-LIMITED, `too_many_invalid_keys`: The network of the client has sent too many invalid API keys. Retry after the time in Retry-After.
       */
      429: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description - `internal`: The service has a defect; include trace_id in a support request. */
      500: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description - OP-SYS-UNAVAILABLE, `key_store_unavailable`: API keys cannot be checked. Retry after the time in Retry-After; repeat a create request with the same Idempotency-Key. */
      503: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
    };
  };
  getOpenapiDocument: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description OpenAPI 3.1 */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['OpenApiDocument'];
        };
      };
      /** @description - OP-TASK-REQUEST-INVALID, `unknown_field`: This operation takes no query parameters. */
      400: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description - `internal`: The service has a defect; include trace_id in a support request. */
      500: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description - OP-SYS-UNAVAILABLE, `openapi_document_missing`: The OpenAPI document could not be read. Retry after the time in Retry-After; repeat a create request with the same Idempotency-Key. */
      503: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'Cache-Control': components['headers']['Cache-Control'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
    };
  };
  createAlarmBacktest: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        /**
         * @example {
         *       "task_id": "019cf0a3-5b1e-7c44-9a51-6f0d2b7e8c10",
         *       "from_ms": 1773565200000,
         *       "to_ms": 1773568800000,
         *       "when": {
         *         "kind": "object_present",
         *         "labels": [
         *           "person"
         *         ],
         *         "region": [
         *           [
         *             0.1,
         *             0.5
         *           ],
         *           [
         *             0.9,
         *             0.5
         *           ],
         *           [
         *             0.9,
         *             1
         *           ],
         *           [
         *             0.1,
         *             1
         *           ]
         *         ],
         *         "anchor": "bottom_center",
         *         "min_count": 1,
         *         "for_ms": 2000,
         *         "clear_ms": 5000
         *       },
         *       "schedule": {
         *         "time_zone": "Europe/Berlin",
         *         "windows": [
         *           {
         *             "days": [
         *               "mon",
         *               "tue",
         *               "wed",
         *               "thu",
         *               "fri"
         *             ],
         *             "from": "06:00",
         *             "to": "22:00"
         *           }
         *         ]
         *       },
         *       "min_interval_ms": 60000
         *     }
         */
        'application/json': components['schemas']['NewAlarmBacktest'];
      };
    };
    responses: {
      /** @description Alarms that the rule would have raised */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "alarms": [
           *         {
           *           "alarm_id": "5f0c8a1e-3f6d-8b42-9c17-2d8e4a7b9c03",
           *           "state": "closed",
           *           "kind": "object_present",
           *           "opened_ms": 1773565206200,
           *           "closed_ms": 1773565221400,
           *           "suppressed": 0,
           *           "evidence": {
           *             "frame_id": "019cf0a3-5b1e-7c44-9a51-6f0d2b7e8c10-31",
           *             "frame_time_ms": 1773565206200,
           *             "objects": [
           *               {
           *                 "label": "person",
           *                 "score": 0.91,
           *                 "bbox": {
           *                   "format": "cxcywh_normalized",
           *                   "cx": 0.42,
           *                   "cy": 0.55,
           *                   "width": 0.08,
           *                   "height": 0.31
           *                 },
           *                 "track_id": "a1-7"
           *               }
           *             ],
           *             "count": 1,
           *             "held_ms": 2000
           *           },
           *           "labels": [
           *             "person"
           *           ],
           *           "count_max": 2,
           *           "track_ids": [
           *             "a1-7",
           *             "a1-8"
           *           ],
           *           "closed_by": "cleared"
           *         }
           *       ],
           *       "suppressed": 1,
           *       "frames_read": 17940,
           *       "coverage": 0.9967,
           *       "judged_to_ms": 1773568800000
           *     }
           */
          'application/json': components['schemas']['AlarmBacktest'];
        };
      };
      /**
       * @description - OP-TASK-REQUEST-INVALID, `rule_invalid`: when.for_ms: Send a number of at least 5000.
       *     - OP-TASK-REQUEST-INVALID, `region_invalid`: when.region: Send a polygon whose edges do not cross or touch each other.
       *     - OP-TASK-REQUEST-INVALID, `time_zone_unknown`: schedule.time_zone: Send an IANA time zone.
       *     - OP-TASK-REQUEST-INVALID, `not_a_video_task`: An image call has no result frames; read it at /v1/vision/image-detections/{task_id}.
       *     - OP-TASK-REQUEST-INVALID, `unknown_field`: This operation takes no query parameters.
       */
      400: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /**
       * @description - OP-AUTH-REQUIRED, `api_key_missing`: The request has no header Authorization. Send a valid key in the header "Authorization: Bearer <API_KEY>".
       *     - OP-AUTH-REQUIRED, `api_key_invalid`: The API key is malformed, unknown, expired or revoked. Send a valid key in the header "Authorization: Bearer <API_KEY>".
       */
      401: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'Cache-Control': components['headers']['Cache-Control'];
          'WWW-Authenticate': components['headers']['WWW-Authenticate'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description - `scope_missing`: This operation requires an API key with the scope read. */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description - `task_not_found`: There is no such task. */
      404: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /**
       * @description - OP-QUOTA-RATE-LIMITED, `too_many_in_flight`: Too many requests of this kind run at once for the subject; details.limit names the limit. Retry after the time in Retry-After.
       *     - OP-QUOTA-RATE-LIMITED, `rate_exceeded`: The subject sends too many requests per second. Retry after the time in Retry-After.
       *     - OP-QUOTA-RATE-LIMITED, `too_many_invalid_keys`: The network of the client has sent too many invalid API keys. Retry after the time in Retry-After.
       */
      429: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description - `internal`: The service has a defect; include trace_id in a support request. */
      500: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description - OP-SYS-UNAVAILABLE, `key_store_unavailable`: API keys cannot be checked. Retry after the time in Retry-After; repeat a create request with the same Idempotency-Key. */
      503: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
    };
  };
  listAlarmRules: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description All rules, by `rule_id` */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "items": [
           *         {
           *           "rule_id": "yard-at-night",
           *           "version": 1773500000,
           *           "name": "Yard at night",
           *           "enabled": true,
           *           "scope": {
           *             "client_refs": [
           *               "yard-north"
           *             ]
           *           },
           *           "when": {
           *             "kind": "object_present",
           *             "labels": [
           *               "person"
           *             ],
           *             "region": [
           *               [
           *                 0.1,
           *                 0.5
           *               ],
           *               [
           *                 0.9,
           *                 0.5
           *               ],
           *               [
           *                 0.9,
           *                 1
           *               ],
           *               [
           *                 0.1,
           *                 1
           *               ]
           *             ],
           *             "anchor": "bottom_center",
           *             "min_count": 1,
           *             "for_ms": 2000,
           *             "clear_ms": 5000
           *           },
           *           "schedule": {
           *             "time_zone": "Europe/Berlin",
           *             "windows": [
           *               {
           *                 "days": [
           *                   "mon",
           *                   "tue",
           *                   "wed",
           *                   "thu",
           *                   "fri"
           *                 ],
           *                 "from": "18:00",
           *                 "to": "06:00"
           *               }
           *             ]
           *           },
           *           "min_interval_ms": 60000,
           *           "created_at": "2026-03-14T14:53:20.000Z",
           *           "updated_at": "2026-03-14T14:53:20.000Z"
           *         }
           *       ]
           *     }
           */
          'application/json': components['schemas']['AlarmRuleList'];
        };
      };
      /** @description - OP-TASK-REQUEST-INVALID, `unknown_field`: This operation takes no query parameters. */
      400: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /**
       * @description - OP-AUTH-REQUIRED, `api_key_missing`: The request has no header Authorization. Send a valid key in the header "Authorization: Bearer <API_KEY>".
       *     - OP-AUTH-REQUIRED, `api_key_invalid`: The API key is malformed, unknown, expired or revoked. Send a valid key in the header "Authorization: Bearer <API_KEY>".
       */
      401: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'Cache-Control': components['headers']['Cache-Control'];
          'WWW-Authenticate': components['headers']['WWW-Authenticate'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description - `scope_missing`: This operation requires an API key with the scope read. */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /**
       * @description - OP-QUOTA-RATE-LIMITED, `rate_exceeded`: The subject sends too many requests per second. Retry after the time in Retry-After.
       *     - OP-QUOTA-RATE-LIMITED, `too_many_invalid_keys`: The network of the client has sent too many invalid API keys. Retry after the time in Retry-After.
       */
      429: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description - `internal`: The service has a defect; include trace_id in a support request. */
      500: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description - OP-SYS-UNAVAILABLE, `key_store_unavailable`: API keys cannot be checked. Retry after the time in Retry-After; repeat a create request with the same Idempotency-Key. */
      503: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
    };
  };
  getAlarmRule: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        rule_id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description The rule */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "rule_id": "yard-at-night",
           *       "version": 1773500000,
           *       "name": "Yard at night",
           *       "enabled": true,
           *       "scope": {
           *         "client_refs": [
           *           "yard-north"
           *         ]
           *       },
           *       "when": {
           *         "kind": "object_present",
           *         "labels": [
           *           "person"
           *         ],
           *         "region": [
           *           [
           *             0.1,
           *             0.5
           *           ],
           *           [
           *             0.9,
           *             0.5
           *           ],
           *           [
           *             0.9,
           *             1
           *           ],
           *           [
           *             0.1,
           *             1
           *           ]
           *         ],
           *         "anchor": "bottom_center",
           *         "min_count": 1,
           *         "for_ms": 2000,
           *         "clear_ms": 5000
           *       },
           *       "schedule": {
           *         "time_zone": "Europe/Berlin",
           *         "windows": [
           *           {
           *             "days": [
           *               "mon",
           *               "tue",
           *               "wed",
           *               "thu",
           *               "fri"
           *             ],
           *             "from": "18:00",
           *             "to": "06:00"
           *           }
           *         ]
           *       },
           *       "min_interval_ms": 60000,
           *       "created_at": "2026-03-14T14:53:20.000Z",
           *       "updated_at": "2026-03-14T14:53:20.000Z",
           *       "verdicts": {
           *         "none": 3,
           *         "confirmed": 12,
           *         "false_alarm": 1
           *       }
           *     }
           */
          'application/json': components['schemas']['AlarmRuleWithVerdicts'];
        };
      };
      /** @description - OP-TASK-REQUEST-INVALID, `unknown_field`: This operation takes no query parameters. */
      400: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /**
       * @description - OP-AUTH-REQUIRED, `api_key_missing`: The request has no header Authorization. Send a valid key in the header "Authorization: Bearer <API_KEY>".
       *     - OP-AUTH-REQUIRED, `api_key_invalid`: The API key is malformed, unknown, expired or revoked. Send a valid key in the header "Authorization: Bearer <API_KEY>".
       */
      401: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'Cache-Control': components['headers']['Cache-Control'];
          'WWW-Authenticate': components['headers']['WWW-Authenticate'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description - `scope_missing`: This operation requires an API key with the scope read. */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /**
       * @description - `rule_not_found`: There is no alarm rule of this name.
       *     - `not_found`: There is no such resource.
       */
      404: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /**
       * @description - OP-QUOTA-RATE-LIMITED, `rate_exceeded`: The subject sends too many requests per second. Retry after the time in Retry-After.
       *     - OP-QUOTA-RATE-LIMITED, `too_many_invalid_keys`: The network of the client has sent too many invalid API keys. Retry after the time in Retry-After.
       */
      429: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description - `internal`: The service has a defect; include trace_id in a support request. */
      500: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description - OP-SYS-UNAVAILABLE, `key_store_unavailable`: API keys cannot be checked. Retry after the time in Retry-After; repeat a create request with the same Idempotency-Key. */
      503: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
    };
  };
  putAlarmRule: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        rule_id: string;
      };
      cookie?: never;
    };
    requestBody: {
      content: {
        /**
         * @example {
         *       "name": "Yard at night",
         *       "enabled": true,
         *       "scope": {
         *         "client_refs": [
         *           "yard-north"
         *         ]
         *       },
         *       "when": {
         *         "kind": "object_present",
         *         "labels": [
         *           "person"
         *         ],
         *         "region": [
         *           [
         *             0.1,
         *             0.5
         *           ],
         *           [
         *             0.9,
         *             0.5
         *           ],
         *           [
         *             0.9,
         *             1
         *           ],
         *           [
         *             0.1,
         *             1
         *           ]
         *         ],
         *         "anchor": "bottom_center",
         *         "min_count": 1,
         *         "for_ms": 2000,
         *         "clear_ms": 5000
         *       },
         *       "schedule": {
         *         "time_zone": "Europe/Berlin",
         *         "windows": [
         *           {
         *             "days": [
         *               "mon",
         *               "tue",
         *               "wed",
         *               "thu",
         *               "fri"
         *             ],
         *             "from": "18:00",
         *             "to": "06:00"
         *           }
         *         ]
         *       },
         *       "min_interval_ms": 60000
         *     }
         */
        'application/json': components['schemas']['NewAlarmRule'];
      };
    };
    responses: {
      /** @description Replaced, or the same as before */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "rule_id": "yard-at-night",
           *       "version": 1773500000,
           *       "name": "Yard at night",
           *       "enabled": true,
           *       "scope": {
           *         "client_refs": [
           *           "yard-north"
           *         ]
           *       },
           *       "when": {
           *         "kind": "object_present",
           *         "labels": [
           *           "person"
           *         ],
           *         "region": [
           *           [
           *             0.1,
           *             0.5
           *           ],
           *           [
           *             0.9,
           *             0.5
           *           ],
           *           [
           *             0.9,
           *             1
           *           ],
           *           [
           *             0.1,
           *             1
           *           ]
           *         ],
           *         "anchor": "bottom_center",
           *         "min_count": 1,
           *         "for_ms": 2000,
           *         "clear_ms": 5000
           *       },
           *       "schedule": {
           *         "time_zone": "Europe/Berlin",
           *         "windows": [
           *           {
           *             "days": [
           *               "mon",
           *               "tue",
           *               "wed",
           *               "thu",
           *               "fri"
           *             ],
           *             "from": "18:00",
           *             "to": "06:00"
           *           }
           *         ]
           *       },
           *       "min_interval_ms": 60000,
           *       "created_at": "2026-03-14T14:53:20.000Z",
           *       "updated_at": "2026-03-14T14:53:20.000Z"
           *     }
           */
          'application/json': components['schemas']['AlarmRule'];
        };
      };
      /** @description Created */
      201: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "rule_id": "yard-at-night",
           *       "version": 1773500000,
           *       "name": "Yard at night",
           *       "enabled": true,
           *       "scope": {
           *         "client_refs": [
           *           "yard-north"
           *         ]
           *       },
           *       "when": {
           *         "kind": "object_present",
           *         "labels": [
           *           "person"
           *         ],
           *         "region": [
           *           [
           *             0.1,
           *             0.5
           *           ],
           *           [
           *             0.9,
           *             0.5
           *           ],
           *           [
           *             0.9,
           *             1
           *           ],
           *           [
           *             0.1,
           *             1
           *           ]
           *         ],
           *         "anchor": "bottom_center",
           *         "min_count": 1,
           *         "for_ms": 2000,
           *         "clear_ms": 5000
           *       },
           *       "schedule": {
           *         "time_zone": "Europe/Berlin",
           *         "windows": [
           *           {
           *             "days": [
           *               "mon",
           *               "tue",
           *               "wed",
           *               "thu",
           *               "fri"
           *             ],
           *             "from": "18:00",
           *             "to": "06:00"
           *           }
           *         ]
           *       },
           *       "min_interval_ms": 60000,
           *       "created_at": "2026-03-14T14:53:20.000Z",
           *       "updated_at": "2026-03-14T14:53:20.000Z"
           *     }
           */
          'application/json': components['schemas']['AlarmRule'];
        };
      };
      /**
       * @description - OP-TASK-REQUEST-INVALID, `rule_invalid`: when.for_ms: Send a number of at least 5000.
       *     - OP-TASK-REQUEST-INVALID, `region_invalid`: when.region: Send a polygon whose edges do not cross or touch each other.
       *     - OP-TASK-REQUEST-INVALID, `time_zone_unknown`: schedule.time_zone: Send an IANA time zone.
       *     - OP-TASK-REQUEST-INVALID, `unknown_field`: This operation takes no query parameters.
       */
      400: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /**
       * @description - OP-AUTH-REQUIRED, `api_key_missing`: The request has no header Authorization. Send a valid key in the header "Authorization: Bearer <API_KEY>".
       *     - OP-AUTH-REQUIRED, `api_key_invalid`: The API key is malformed, unknown, expired or revoked. Send a valid key in the header "Authorization: Bearer <API_KEY>".
       */
      401: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'Cache-Control': components['headers']['Cache-Control'];
          'WWW-Authenticate': components['headers']['WWW-Authenticate'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description - `scope_missing`: This operation requires an API key with the scope notify. */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description - `not_found`: There is no such resource. */
      404: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description - `limit_reached`: The subject has 200 alarm rules, the most it may have. Delete one first. */
      409: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /**
       * @description - OP-QUOTA-RATE-LIMITED, `rule_change_rate`: Too many alarm rules were changed within a minute. Retry after the time in Retry-After.
       *     - OP-QUOTA-RATE-LIMITED, `rate_exceeded`: The subject sends too many requests per second. Retry after the time in Retry-After.
       *     - OP-QUOTA-RATE-LIMITED, `too_many_invalid_keys`: The network of the client has sent too many invalid API keys. Retry after the time in Retry-After.
       */
      429: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description - `internal`: The service has a defect; include trace_id in a support request. */
      500: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description - OP-SYS-UNAVAILABLE, `key_store_unavailable`: API keys cannot be checked. Retry after the time in Retry-After; repeat a create request with the same Idempotency-Key. */
      503: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
    };
  };
  deleteAlarmRule: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        rule_id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Deleted */
      204: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          [name: string]: unknown;
        };
        content?: never;
      };
      /** @description - OP-TASK-REQUEST-INVALID, `unknown_field`: This operation takes no query parameters. */
      400: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /**
       * @description - OP-AUTH-REQUIRED, `api_key_missing`: The request has no header Authorization. Send a valid key in the header "Authorization: Bearer <API_KEY>".
       *     - OP-AUTH-REQUIRED, `api_key_invalid`: The API key is malformed, unknown, expired or revoked. Send a valid key in the header "Authorization: Bearer <API_KEY>".
       */
      401: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'Cache-Control': components['headers']['Cache-Control'];
          'WWW-Authenticate': components['headers']['WWW-Authenticate'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description - `scope_missing`: This operation requires an API key with the scope notify. */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /**
       * @description - `rule_not_found`: There is no alarm rule of this name.
       *     - `not_found`: There is no such resource.
       */
      404: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /**
       * @description - OP-QUOTA-RATE-LIMITED, `rule_change_rate`: Too many alarm rules were changed within a minute. Retry after the time in Retry-After.
       *     - OP-QUOTA-RATE-LIMITED, `rate_exceeded`: The subject sends too many requests per second. Retry after the time in Retry-After.
       *     - OP-QUOTA-RATE-LIMITED, `too_many_invalid_keys`: The network of the client has sent too many invalid API keys. Retry after the time in Retry-After.
       */
      429: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description - `internal`: The service has a defect; include trace_id in a support request. */
      500: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description - OP-SYS-UNAVAILABLE, `key_store_unavailable`: API keys cannot be checked. Retry after the time in Retry-After; repeat a create request with the same Idempotency-Key. */
      503: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
    };
  };
  listAlarms: {
    parameters: {
      query?: {
        /** @description Cursor of an earlier page */
        cursor?: string;
        /** @description Alarms on a page */
        limit?: number;
        /** @description Only alarms of this task */
        task_id?: string;
        /** @description Only alarms of tasks with this `client_ref` */
        client_ref?: string;
        /** @description Only alarms of this rule */
        rule_id?: string;
        state?: 'open' | 'closed';
        /** @description Only alarms with this verdict; `none`: not reviewed */
        verdict?: 'none' | 'confirmed' | 'false_alarm';
        /** @description Earliest `opened_ms`, inclusive */
        from_ms?: number;
        /** @description Latest `opened_ms`, exclusive; later than `from_ms` */
        to_ms?: number;
        /** @description Order in which the alarms opened, `newest` by default. A cursor keeps its own order */
        order?: 'oldest' | 'newest';
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Page of alarms */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "items": [
           *         {
           *           "alarm_id": "5f0c8a1e-3f6d-8b42-9c17-2d8e4a7b9c03",
           *           "version": 3,
           *           "rule_id": "yard-at-night",
           *           "rule_version": 1773500000,
           *           "task_id": "019cf0a3-5b1e-7c44-9a51-6f0d2b7e8c10",
           *           "client_ref": "yard-north",
           *           "scene_code": "person_vehicle",
           *           "state": "closed",
           *           "kind": "object_present",
           *           "opened_ms": 1773565206200,
           *           "closed_ms": 1773565221400,
           *           "suppressed": 0,
           *           "evidence": {
           *             "frame_id": "019cf0a3-5b1e-7c44-9a51-6f0d2b7e8c10-31",
           *             "frame_time_ms": 1773565206200,
           *             "objects": [
           *               {
           *                 "label": "person",
           *                 "score": 0.91,
           *                 "bbox": {
           *                   "format": "cxcywh_normalized",
           *                   "cx": 0.42,
           *                   "cy": 0.55,
           *                   "width": 0.08,
           *                   "height": 0.31
           *                 },
           *                 "track_id": "a1-7"
           *               }
           *             ],
           *             "count": 1,
           *             "held_ms": 2000,
           *             "region": [
           *               [
           *                 0.1,
           *                 0.4
           *               ],
           *               [
           *                 0.9,
           *                 0.4
           *               ],
           *               [
           *                 0.9,
           *                 1
           *               ],
           *               [
           *                 0.1,
           *                 1
           *               ]
           *             ]
           *           },
           *           "labels": [
           *             "person"
           *           ],
           *           "count_max": 2,
           *           "track_ids": [
           *             "a1-7",
           *             "a1-8"
           *           ],
           *           "closed_by": "cleared",
           *           "snapshot": {
           *             "state": "available",
           *             "path": "/v1/vision/tasks/019cf0a3-5b1e-7c44-9a51-6f0d2b7e8c10/tracks/a1-7/snapshot",
           *             "frame_time_ms": 1773565207400
           *           },
           *           "created_at": "2026-03-15T09:00:06.431Z",
           *           "updated_at": "2026-03-15T09:00:21.431Z",
           *           "sequence": 1773565206436,
           *           "review": {
           *             "verdict": "false_alarm",
           *             "note": "the gardener",
           *             "reviewed_at": "2026-03-15T10:12:00.000Z"
           *           }
           *         }
           *       ],
           *       "next_cursor": "",
           *       "resume_cursor": "AQAAAAAAAAAAKQAAAAAAAAApJzt6dWZpS0VtDR3dMFiJ0A"
           *     }
           */
          'application/json': components['schemas']['AlarmPage'];
        };
      };
      /**
       * @description - OP-TASK-REQUEST-INVALID, `query_invalid`: limit: Send a number of at least 1.
       *     - OP-TASK-REQUEST-INVALID, `unknown_field`: colour: This operation does not accept it.
       *     - OP-TASK-REQUEST-INVALID, `cursor_invalid`: cursor: send the cursor of an earlier page of this list, with the same order, or the id of an event of its stream.
       */
      400: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /**
       * @description - OP-AUTH-REQUIRED, `api_key_missing`: The request has no header Authorization. Send a valid key in the header "Authorization: Bearer <API_KEY>".
       *     - OP-AUTH-REQUIRED, `api_key_invalid`: The API key is malformed, unknown, expired or revoked. Send a valid key in the header "Authorization: Bearer <API_KEY>".
       */
      401: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'Cache-Control': components['headers']['Cache-Control'];
          'WWW-Authenticate': components['headers']['WWW-Authenticate'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description - `scope_missing`: This operation requires an API key with the scope read. */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /**
       * @description - OP-QUOTA-RATE-LIMITED, `rate_exceeded`: The subject sends too many requests per second. Retry after the time in Retry-After.
       *     - OP-QUOTA-RATE-LIMITED, `too_many_invalid_keys`: The network of the client has sent too many invalid API keys. Retry after the time in Retry-After.
       */
      429: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description - `internal`: The service has a defect; include trace_id in a support request. */
      500: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description - OP-SYS-UNAVAILABLE, `key_store_unavailable`: API keys cannot be checked. Retry after the time in Retry-After; repeat a create request with the same Idempotency-Key. */
      503: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
    };
  };
  getAlarm: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        alarm_id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description The alarm as it is now */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "alarm_id": "5f0c8a1e-3f6d-8b42-9c17-2d8e4a7b9c03",
           *       "version": 3,
           *       "rule_id": "yard-at-night",
           *       "rule_version": 1773500000,
           *       "task_id": "019cf0a3-5b1e-7c44-9a51-6f0d2b7e8c10",
           *       "client_ref": "yard-north",
           *       "scene_code": "person_vehicle",
           *       "state": "closed",
           *       "kind": "object_present",
           *       "opened_ms": 1773565206200,
           *       "closed_ms": 1773565221400,
           *       "suppressed": 0,
           *       "evidence": {
           *         "frame_id": "019cf0a3-5b1e-7c44-9a51-6f0d2b7e8c10-31",
           *         "frame_time_ms": 1773565206200,
           *         "objects": [
           *           {
           *             "label": "person",
           *             "score": 0.91,
           *             "bbox": {
           *               "format": "cxcywh_normalized",
           *               "cx": 0.42,
           *               "cy": 0.55,
           *               "width": 0.08,
           *               "height": 0.31
           *             },
           *             "track_id": "a1-7"
           *           }
           *         ],
           *         "count": 1,
           *         "held_ms": 2000,
           *         "region": [
           *           [
           *             0.1,
           *             0.4
           *           ],
           *           [
           *             0.9,
           *             0.4
           *           ],
           *           [
           *             0.9,
           *             1
           *           ],
           *           [
           *             0.1,
           *             1
           *           ]
           *         ]
           *       },
           *       "labels": [
           *         "person"
           *       ],
           *       "count_max": 2,
           *       "track_ids": [
           *         "a1-7",
           *         "a1-8"
           *       ],
           *       "closed_by": "cleared",
           *       "snapshot": {
           *         "state": "available",
           *         "path": "/v1/vision/tasks/019cf0a3-5b1e-7c44-9a51-6f0d2b7e8c10/tracks/a1-7/snapshot",
           *         "frame_time_ms": 1773565207400
           *       },
           *       "created_at": "2026-03-15T09:00:06.431Z",
           *       "updated_at": "2026-03-15T09:00:21.431Z",
           *       "sequence": 1773565206436,
           *       "review": {
           *         "verdict": "false_alarm",
           *         "note": "the gardener",
           *         "reviewed_at": "2026-03-15T10:12:00.000Z"
           *       }
           *     }
           */
          'application/json': components['schemas']['Alarm'];
        };
      };
      /** @description - OP-TASK-REQUEST-INVALID, `unknown_field`: This operation takes no query parameters. */
      400: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /**
       * @description - OP-AUTH-REQUIRED, `api_key_missing`: The request has no header Authorization. Send a valid key in the header "Authorization: Bearer <API_KEY>".
       *     - OP-AUTH-REQUIRED, `api_key_invalid`: The API key is malformed, unknown, expired or revoked. Send a valid key in the header "Authorization: Bearer <API_KEY>".
       */
      401: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'Cache-Control': components['headers']['Cache-Control'];
          'WWW-Authenticate': components['headers']['WWW-Authenticate'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description - `scope_missing`: This operation requires an API key with the scope read. */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /**
       * @description - `alarm_not_found`: The alarm does not exist, has expired, or belongs to another subject.
       *     - `not_found`: There is no such resource.
       */
      404: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /**
       * @description - OP-QUOTA-RATE-LIMITED, `rate_exceeded`: The subject sends too many requests per second. Retry after the time in Retry-After.
       *     - OP-QUOTA-RATE-LIMITED, `too_many_invalid_keys`: The network of the client has sent too many invalid API keys. Retry after the time in Retry-After.
       */
      429: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description - `internal`: The service has a defect; include trace_id in a support request. */
      500: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description - OP-SYS-UNAVAILABLE, `key_store_unavailable`: API keys cannot be checked. Retry after the time in Retry-After; repeat a create request with the same Idempotency-Key. */
      503: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
    };
  };
  reviewAlarm: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        alarm_id: string;
      };
      cookie?: never;
    };
    requestBody: {
      content: {
        /**
         * @example {
         *       "verdict": "false_alarm",
         *       "note": "the gardener"
         *     }
         */
        'application/json': components['schemas']['NewAlarmReview'];
      };
    };
    responses: {
      /** @description The alarm with its review */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "alarm_id": "5f0c8a1e-3f6d-8b42-9c17-2d8e4a7b9c03",
           *       "version": 3,
           *       "rule_id": "yard-at-night",
           *       "rule_version": 1773500000,
           *       "task_id": "019cf0a3-5b1e-7c44-9a51-6f0d2b7e8c10",
           *       "client_ref": "yard-north",
           *       "scene_code": "person_vehicle",
           *       "state": "closed",
           *       "kind": "object_present",
           *       "opened_ms": 1773565206200,
           *       "closed_ms": 1773565221400,
           *       "suppressed": 0,
           *       "evidence": {
           *         "frame_id": "019cf0a3-5b1e-7c44-9a51-6f0d2b7e8c10-31",
           *         "frame_time_ms": 1773565206200,
           *         "objects": [
           *           {
           *             "label": "person",
           *             "score": 0.91,
           *             "bbox": {
           *               "format": "cxcywh_normalized",
           *               "cx": 0.42,
           *               "cy": 0.55,
           *               "width": 0.08,
           *               "height": 0.31
           *             },
           *             "track_id": "a1-7"
           *           }
           *         ],
           *         "count": 1,
           *         "held_ms": 2000,
           *         "region": [
           *           [
           *             0.1,
           *             0.4
           *           ],
           *           [
           *             0.9,
           *             0.4
           *           ],
           *           [
           *             0.9,
           *             1
           *           ],
           *           [
           *             0.1,
           *             1
           *           ]
           *         ]
           *       },
           *       "labels": [
           *         "person"
           *       ],
           *       "count_max": 2,
           *       "track_ids": [
           *         "a1-7",
           *         "a1-8"
           *       ],
           *       "closed_by": "cleared",
           *       "snapshot": {
           *         "state": "available",
           *         "path": "/v1/vision/tasks/019cf0a3-5b1e-7c44-9a51-6f0d2b7e8c10/tracks/a1-7/snapshot",
           *         "frame_time_ms": 1773565207400
           *       },
           *       "created_at": "2026-03-15T09:00:06.431Z",
           *       "updated_at": "2026-03-15T09:00:21.431Z",
           *       "sequence": 1773565206436,
           *       "review": {
           *         "verdict": "false_alarm",
           *         "note": "the gardener",
           *         "reviewed_at": "2026-03-15T10:12:00.000Z"
           *       }
           *     }
           */
          'application/json': components['schemas']['Alarm'];
        };
      };
      /**
       * @description - OP-TASK-REQUEST-INVALID, `body_invalid`: verdict: Send one of none, confirmed, false_alarm.
       *     - OP-TASK-REQUEST-INVALID, `unknown_field`: This operation takes no query parameters.
       */
      400: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /**
       * @description - OP-AUTH-REQUIRED, `api_key_missing`: The request has no header Authorization. Send a valid key in the header "Authorization: Bearer <API_KEY>".
       *     - OP-AUTH-REQUIRED, `api_key_invalid`: The API key is malformed, unknown, expired or revoked. Send a valid key in the header "Authorization: Bearer <API_KEY>".
       */
      401: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'Cache-Control': components['headers']['Cache-Control'];
          'WWW-Authenticate': components['headers']['WWW-Authenticate'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description - `scope_missing`: This operation requires an API key with the scope notify. */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /**
       * @description - `alarm_not_found`: The alarm does not exist, has expired, or belongs to another subject.
       *     - `not_found`: There is no such resource.
       */
      404: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /**
       * @description - OP-QUOTA-RATE-LIMITED, `rate_exceeded`: The subject sends too many requests per second. Retry after the time in Retry-After.
       *     - OP-QUOTA-RATE-LIMITED, `too_many_invalid_keys`: The network of the client has sent too many invalid API keys. Retry after the time in Retry-After.
       */
      429: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description - `internal`: The service has a defect; include trace_id in a support request. */
      500: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description - OP-SYS-UNAVAILABLE, `key_store_unavailable`: API keys cannot be checked. Retry after the time in Retry-After; repeat a create request with the same Idempotency-Key. */
      503: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
    };
  };
  listEvents: {
    parameters: {
      query?: {
        /** @description Cursor of an earlier page or of an event of the stream */
        cursor?: string;
        /** @description Events on a page */
        limit?: number;
        /** @description Types to return, comma separated; all types by default: task.running, task.resolving, task.succeeded, task.stopped, task.failed, task.refunded, alarm.opened, alarm.updated, alarm.closed, webhook_endpoint.disabled, webhook_endpoint.test, mqtt_endpoint.disabled, events.missed */
        types?: string;
        /** @description Order of the events, `oldest` by default. A cursor keeps its own order and works with no other */
        order?: 'oldest' | 'newest';
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Page of events */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "items": [
           *         {
           *           "event_id": "019cf0a3-60f2-7a10-8c44-1f0d2b7e8c10",
           *           "type": "task.running",
           *           "timestamp": "2026-03-15T08:30:01.250Z",
           *           "sequence": 1773563401262,
           *           "data": {
           *             "task": {
           *               "task_id": "019cf0a3-5b1e-7c44-9a51-6f0d2b7e8c10",
           *               "request_id": "8f14e45f-ceea-467f-9d0a-2c1b6e0f7a31",
           *               "scene_code": "person_vehicle",
           *               "status": "running",
           *               "result_expires_at": "2026-06-13T08:30:00.000Z",
           *               "created_at": "2026-03-15T08:30:00.000Z",
           *               "updated_at": "2026-03-15T08:30:01.250Z"
           *             }
           *           }
           *         }
           *       ],
           *       "next_cursor": "",
           *       "resume_cursor": "AQAAAAAAAAAAKQAAAAAAAAApJzt6dWZpS0VtDR3dMFiJ0A"
           *     }
           */
          'application/json': components['schemas']['EventPage'];
        };
      };
      /**
       * @description - OP-TASK-REQUEST-INVALID, `query_invalid`: limit: send a whole number from 1 to 500.
       *     - OP-TASK-REQUEST-INVALID, `unknown_field`: Only cursor, limit, types, order are accepted.
       *     - OP-TASK-REQUEST-INVALID, `cursor_invalid`: cursor: send the cursor of an earlier page of this list, with the same order, or the id of an event of its stream.
       */
      400: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /**
       * @description - OP-AUTH-REQUIRED, `api_key_missing`: The request has no header Authorization. Send a valid key in the header "Authorization: Bearer <API_KEY>".
       *     - OP-AUTH-REQUIRED, `api_key_invalid`: The API key is malformed, unknown, expired or revoked. Send a valid key in the header "Authorization: Bearer <API_KEY>".
       */
      401: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'Cache-Control': components['headers']['Cache-Control'];
          'WWW-Authenticate': components['headers']['WWW-Authenticate'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description - `scope_missing`: This operation requires an API key with the scope read. */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /**
       * @description - OP-QUOTA-RATE-LIMITED, `rate_exceeded`: The subject sends too many requests per second. Retry after the time in Retry-After.
       *     - OP-QUOTA-RATE-LIMITED, `too_many_invalid_keys`: The network of the client has sent too many invalid API keys. Retry after the time in Retry-After.
       */
      429: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description - `internal`: The service has a defect; include trace_id in a support request. */
      500: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description - OP-SYS-UNAVAILABLE, `key_store_unavailable`: API keys cannot be checked. Retry after the time in Retry-After; repeat a create request with the same Idempotency-Key. */
      503: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
    };
  };
  getEventStream: {
    parameters: {
      query?: {
        /** @description `resume_cursor` of a page or `id` of an event. `Last-Event-ID` takes precedence */
        cursor?: string;
        /** @description Types to return, comma separated; all types by default: task.running, task.resolving, task.succeeded, task.stopped, task.failed, task.refunded, alarm.opened, alarm.updated, alarm.closed, webhook_endpoint.disabled, webhook_endpoint.test, mqtt_endpoint.disabled, events.missed */
        types?: string;
      };
      header?: {
        /** @description `id` of the last event that you have handled */
        'Last-Event-ID'?: string;
      };
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Server-sent events */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'X-Accel-Buffering': components['headers']['X-Accel-Buffering'];
          [name: string]: unknown;
        };
        content: {
          'text/event-stream': Blob;
        };
      };
      /**
       * @description - OP-TASK-REQUEST-INVALID, `query_invalid`: types: send some of task.running, task.resolving, task.succeeded, task.stopped, task.failed, task.refunded, alarm.opened, alarm.updated, alarm.closed, webhook_endpoint.disabled, webhook_endpoint.test, mqtt_endpoint.disabled, events.missed, comma separated.
       *     - OP-TASK-REQUEST-INVALID, `unknown_field`: Only cursor, types are accepted.
       *     - OP-TASK-REQUEST-INVALID, `cursor_invalid`: cursor: send the cursor of an earlier page of this list, with the same order, or the id of an event of its stream.
       */
      400: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /**
       * @description - OP-AUTH-REQUIRED, `api_key_missing`: The request has no header Authorization. Send a valid key in the header "Authorization: Bearer <API_KEY>".
       *     - OP-AUTH-REQUIRED, `api_key_invalid`: The API key is malformed, unknown, expired or revoked. Send a valid key in the header "Authorization: Bearer <API_KEY>".
       */
      401: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'Cache-Control': components['headers']['Cache-Control'];
          'WWW-Authenticate': components['headers']['WWW-Authenticate'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description - `scope_missing`: This operation requires an API key with the scope read. */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /**
       * @description - OP-QUOTA-RATE-LIMITED, `too_many_in_flight`: Too many requests of this kind run at once for the subject; details.limit names the limit. Retry after the time in Retry-After.
       *     - OP-QUOTA-RATE-LIMITED, `rate_exceeded`: The subject sends too many requests per second. Retry after the time in Retry-After.
       *     - OP-QUOTA-RATE-LIMITED, `too_many_invalid_keys`: The network of the client has sent too many invalid API keys. Retry after the time in Retry-After.
       */
      429: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description - `internal`: The service has a defect; include trace_id in a support request. */
      500: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description - OP-SYS-UNAVAILABLE, `key_store_unavailable`: API keys cannot be checked. Retry after the time in Retry-After; repeat a create request with the same Idempotency-Key. */
      503: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
    };
  };
  createImageDetection: {
    parameters: {
      query?: {
        /** @description Name of your own for a camera or an order. The task list shows it and filters by it. It is part of the request: a repeat with another value is rejected. */
        client_ref?: string;
      };
      header: {
        /** @description A UUID that you generate for each new request. Repeating the same request with the same key returns the original result; a different request with the same key is rejected. */
        'Idempotency-Key': string;
      };
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        'multipart/form-data': components['schemas']['NewImageDetection'];
      };
    };
    responses: {
      /** @description Idempotent replay: original outcome of each image */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Idempotency-Replayed': components['headers']['Idempotency-Replayed'];
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "task_id": "019cf0a3-5b1e-7c44-9a51-6f0d2b7e8c11",
           *       "request_id": "8f14e45f-ceea-467f-9d0a-2c1b6e0f7a31",
           *       "status": "succeeded",
           *       "results": [
           *         {
           *           "seq": 0,
           *           "status": "succeeded",
           *           "objects": [
           *             {
           *               "label": "person",
           *               "score": 0.86,
           *               "bbox": {
           *                 "format": "cxcywh_normalized",
           *                 "cx": 0.42,
           *                 "cy": 0.55,
           *                 "width": 0.08,
           *                 "height": 0.31
           *               }
           *             }
           *           ]
           *         },
           *         {
           *           "seq": 1,
           *           "status": "failed",
           *           "error_code": "OP-TASK-REQUEST-INVALID"
           *         }
           *       ],
           *       "replayed": true
           *     }
           */
          'application/json': components['schemas']['ImageDetection'];
        };
      };
      /** @description Outcome of each image */
      201: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "task_id": "019cf0a3-5b1e-7c44-9a51-6f0d2b7e8c11",
           *       "request_id": "8f14e45f-ceea-467f-9d0a-2c1b6e0f7a31",
           *       "status": "succeeded",
           *       "results": [
           *         {
           *           "seq": 0,
           *           "status": "succeeded",
           *           "objects": [
           *             {
           *               "label": "person",
           *               "score": 0.86,
           *               "bbox": {
           *                 "format": "cxcywh_normalized",
           *                 "cx": 0.42,
           *                 "cy": 0.55,
           *                 "width": 0.08,
           *                 "height": 0.31
           *               }
           *             }
           *           ]
           *         },
           *         {
           *           "seq": 1,
           *           "status": "failed",
           *           "error_code": "OP-TASK-REQUEST-INVALID"
           *         }
           *       ]
           *     }
           */
          'application/json': components['schemas']['ImageDetection'];
        };
      };
      /**
       * @description - OP-TASK-REQUEST-INVALID, `idempotency_key_missing`: Send an Idempotency-Key header with a UUID of your own.
       *     - OP-TASK-REQUEST-INVALID, `idempotency_key_invalid`: Send one Idempotency-Key in UUID form (8-4-4-4-12).
       *     - OP-TASK-REQUEST-INVALID, `idempotency_key_reused`: This Idempotency-Key was used for another request; send a new key for a new request.
       *     - OP-TASK-REQUEST-INVALID, `image_count_out_of_range`: Send 1 to 10 images in the field "files".
       *     - OP-TASK-REQUEST-INVALID, `image_too_large`: An image is larger than 8388608 bytes.
       *     - OP-TASK-REQUEST-INVALID, `image_type_unsupported`: Send images as JPEG, PNG or WEBP, and declare them as such.
       *     - OP-TASK-SCENE-UNAVAILABLE, `scene_unavailable`: This scene does not exist or is not enabled; GET /api/op/v1/scenes lists the scenes.
       *     - OP-TASK-REQUEST-INVALID, `unknown_field`: colour: This operation does not accept it.
       */
      400: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /**
       * @description - OP-AUTH-REQUIRED, `api_key_missing`: The request has no header Authorization. Send a valid key in the header "Authorization: Bearer <API_KEY>".
       *     - OP-AUTH-REQUIRED, `api_key_invalid`: The API key is malformed, unknown, expired or revoked. Send a valid key in the header "Authorization: Bearer <API_KEY>".
       */
      401: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'Cache-Control': components['headers']['Cache-Control'];
          'WWW-Authenticate': components['headers']['WWW-Authenticate'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description - `scope_missing`: This operation requires an API key with the scope create. */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description - `task_not_found`: The image call was deleted. */
      404: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /**
       * @description - OP-QUOTA-DAILY-EXHAUSTED, `daily_quota_exhausted`: Today's quota does not cover this request.
       *     - OP-QUOTA-RATE-LIMITED, `too_many_in_flight`: Too many requests of this kind run at once for the subject; details.limit names the limit. Retry after the time in Retry-After.
       *     - OP-QUOTA-RATE-LIMITED, `processor_time_exceeded`: Images and videos of the subject have used more processor time than their share. Retry after the time in Retry-After.
       *     - OP-QUOTA-RATE-LIMITED, `rate_exceeded`: The subject sends too many requests per second. Retry after the time in Retry-After.
       *     - OP-QUOTA-RATE-LIMITED, `too_many_invalid_keys`: The network of the client has sent too many invalid API keys. Retry after the time in Retry-After.
       */
      429: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description - `internal`: The service has a defect; include trace_id in a support request. */
      500: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /**
       * @description - OP-TASK-BREAKER-OPEN, `breaker_open`: New work is rejected because recent calls to the inference backend failed. Nothing was charged.
       *     - OP-TASK-BREAKER-OPEN, `maintenance`: The service is under maintenance and accepts no new work. Nothing was charged.
       *     - OP-SYS-UNAVAILABLE, `first_call_still_running`: An image call with this Idempotency-Key is still in progress. Retry after the time in Retry-After; repeat a create request with the same Idempotency-Key.
       *     - OP-SYS-UNAVAILABLE, `key_store_unavailable`: API keys cannot be checked. Retry after the time in Retry-After; repeat a create request with the same Idempotency-Key.
       */
      503: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
    };
  };
  getImageDetection: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        task_id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description The image call */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "task_id": "019cf0a3-5b1e-7c44-9a51-6f0d2b7e8c11",
           *       "request_id": "8f14e45f-ceea-467f-9d0a-2c1b6e0f7a31",
           *       "status": "succeeded",
           *       "results": [
           *         {
           *           "seq": 0,
           *           "status": "succeeded",
           *           "objects": [
           *             {
           *               "label": "person",
           *               "score": 0.86,
           *               "bbox": {
           *                 "format": "cxcywh_normalized",
           *                 "cx": 0.42,
           *                 "cy": 0.55,
           *                 "width": 0.08,
           *                 "height": 0.31
           *               }
           *             }
           *           ]
           *         },
           *         {
           *           "seq": 1,
           *           "status": "failed",
           *           "error_code": "OP-TASK-REQUEST-INVALID"
           *         }
           *       ],
           *       "scene_code": "person_vehicle",
           *       "created_at": "2026-03-15T08:30:00.000Z",
           *       "result_expires_at": "2026-06-13T08:30:00.000Z"
           *     }
           */
          'application/json': components['schemas']['StoredImageDetection'];
        };
      };
      /** @description - OP-TASK-REQUEST-INVALID, `unknown_field`: This operation takes no query parameters. */
      400: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /**
       * @description - OP-AUTH-REQUIRED, `api_key_missing`: The request has no header Authorization. Send a valid key in the header "Authorization: Bearer <API_KEY>".
       *     - OP-AUTH-REQUIRED, `api_key_invalid`: The API key is malformed, unknown, expired or revoked. Send a valid key in the header "Authorization: Bearer <API_KEY>".
       */
      401: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'Cache-Control': components['headers']['Cache-Control'];
          'WWW-Authenticate': components['headers']['WWW-Authenticate'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description - `scope_missing`: This operation requires an API key with the scope read. */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /**
       * @description - `task_not_found`: There is no image call with this task_id.
       *     - `not_found`: There is no such resource.
       */
      404: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /**
       * @description - OP-QUOTA-RATE-LIMITED, `rate_exceeded`: The subject sends too many requests per second. Retry after the time in Retry-After.
       *     - OP-QUOTA-RATE-LIMITED, `too_many_invalid_keys`: The network of the client has sent too many invalid API keys. Retry after the time in Retry-After.
       */
      429: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description - `internal`: The service has a defect; include trace_id in a support request. */
      500: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description - OP-SYS-UNAVAILABLE, `key_store_unavailable`: API keys cannot be checked. Retry after the time in Retry-After; repeat a create request with the same Idempotency-Key. */
      503: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
    };
  };
  getKey: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description The key */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "key_id": "5f0c8a1e3f6d8b42",
           *       "scopes": [
           *         "read",
           *         "create",
           *         "notify"
           *       ]
           *     }
           */
          'application/json': components['schemas']['Key'];
        };
      };
      /** @description - OP-TASK-REQUEST-INVALID, `unknown_field`: This operation takes no query parameters. */
      400: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /**
       * @description - OP-AUTH-REQUIRED, `api_key_missing`: The request has no header Authorization. Send a valid key in the header "Authorization: Bearer <API_KEY>".
       *     - OP-AUTH-REQUIRED, `api_key_invalid`: The API key is malformed, unknown, expired or revoked. Send a valid key in the header "Authorization: Bearer <API_KEY>".
       */
      401: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'Cache-Control': components['headers']['Cache-Control'];
          'WWW-Authenticate': components['headers']['WWW-Authenticate'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /**
       * @description - OP-QUOTA-RATE-LIMITED, `rate_exceeded`: The subject sends too many requests per second. Retry after the time in Retry-After.
       *     - OP-QUOTA-RATE-LIMITED, `too_many_invalid_keys`: The network of the client has sent too many invalid API keys. Retry after the time in Retry-After.
       */
      429: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description - `internal`: The service has a defect; include trace_id in a support request. */
      500: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description - OP-SYS-UNAVAILABLE, `key_store_unavailable`: API keys cannot be checked. Retry after the time in Retry-After; repeat a create request with the same Idempotency-Key. */
      503: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
    };
  };
  createLink: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        /**
         * @example {
         *       "path": "/v1/vision/tasks/019cf0a3-5b1e-7c44-9a51-6f0d2b7e8c10/video",
         *       "expires_in_s": 3600
         *     }
         */
        'application/json': components['schemas']['NewLink'];
      };
    };
    responses: {
      /** @description Link created */
      201: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "url": "/v1/vision/links/AXvW3kq0b2cH",
           *       "expires_at": "2026-03-15T09:30:00.000Z"
           *     }
           */
          'application/json': components['schemas']['Link'];
        };
      };
      /**
       * @description - OP-TASK-REQUEST-INVALID, `link_path_invalid`: A link can be created for the video or the live snapshot of a task and for the image of a track only: /v1/vision/tasks/{task_id}/video, /v1/vision/tasks/{task_id}/live-snapshot, /v1/vision/tasks/{task_id}/tracks/{track_id}/snapshot.
       *     - OP-TASK-REQUEST-INVALID, `unknown_field`: This operation takes no query parameters.
       */
      400: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /**
       * @description - OP-AUTH-REQUIRED, `api_key_missing`: The request has no header Authorization. Send a valid key in the header "Authorization: Bearer <API_KEY>".
       *     - OP-AUTH-REQUIRED, `api_key_invalid`: The API key is malformed, unknown, expired or revoked. Send a valid key in the header "Authorization: Bearer <API_KEY>".
       */
      401: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'Cache-Control': components['headers']['Cache-Control'];
          'WWW-Authenticate': components['headers']['WWW-Authenticate'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description - `scope_missing`: This operation requires an API key with the scope read. */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /**
       * @description - OP-QUOTA-RATE-LIMITED, `rate_exceeded`: The subject sends too many requests per second. Retry after the time in Retry-After.
       *     - OP-QUOTA-RATE-LIMITED, `too_many_invalid_keys`: The network of the client has sent too many invalid API keys. Retry after the time in Retry-After.
       */
      429: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description - `internal`: The service has a defect; include trace_id in a support request. */
      500: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /**
       * @description - OP-SYS-UNAVAILABLE, `links_not_configured`: The service has no keys for links. Retry after the time in Retry-After; repeat a create request with the same Idempotency-Key.
       *     - OP-SYS-UNAVAILABLE, `key_store_unavailable`: API keys cannot be checked. Retry after the time in Retry-After; repeat a create request with the same Idempotency-Key.
       */
      503: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
    };
  };
  getLink: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        /** @description Token of the link */
        token: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Content */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'Accept-Ranges': components['headers']['Accept-Ranges'];
          ETag: components['headers']['ETag'];
          [name: string]: unknown;
        };
        content: {
          'video/mp4': Blob;
          'video/quicktime': Blob;
          'image/jpeg': Blob;
        };
      };
      /** @description Requested range */
      206: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'Accept-Ranges': components['headers']['Accept-Ranges'];
          'Content-Range': components['headers']['Content-Range'];
          ETag: components['headers']['ETag'];
          [name: string]: unknown;
        };
        content: {
          'video/mp4': Blob;
          'video/quicktime': Blob;
        };
      };
      /** @description Not modified */
      304: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          ETag: components['headers']['ETag'];
          [name: string]: unknown;
        };
        content?: never;
      };
      /**
       * @description - OP-TASK-REQUEST-INVALID, `not_an_upload`: The task is not of an uploaded video, so no video is stored for it.
       *     - OP-TASK-REQUEST-INVALID, `not_a_stream`: The task is not of a live stream.
       *     - OP-TASK-REQUEST-INVALID, `unknown_field`: This operation takes no query parameters.
       */
      400: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /**
       * @description - `link_invalid`: The link is invalid or has expired.
       *     - `task_not_found`: There is no such task.
       *     - `track_not_found`: This task has no such track.
       *     - `video_not_found`: The video of the task is no longer stored.
       *     - `snapshots_off`: The task was created without snapshots.
       *     - `snapshot_not_yet`: No frame of the stream arrived in time; retry in some seconds.
       *     - `snapshot_none`: There is no image of the track; `snapshot.reason` of the track says why.
       *     - `not_supported`: The inference backend creates no snapshots for the task.
       *     - `not_found`: There is no such resource.
       */
      404: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description - `range_not_satisfiable`: The range begins behind the end of the content, which has 146515 bytes. */
      416: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'Cache-Control': components['headers']['Cache-Control'];
          'Content-Range': components['headers']['Content-Range'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /**
       * @description - OP-QUOTA-RATE-LIMITED, `rate_exceeded`: The subject sends too many requests per second. Retry after the time in Retry-After.
       *     - OP-QUOTA-RATE-LIMITED, `too_many_in_flight`: Too many requests of this kind run at once for the subject; details.limit names the limit. Retry after the time in Retry-After.
       *     - OP-QUOTA-RATE-LIMITED, `too_many_invalid_keys`: The network of the client has sent too many invalid API keys. Retry after the time in Retry-After.
       */
      429: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'Cache-Control': components['headers']['Cache-Control'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description - `internal`: The service has a defect; include trace_id in a support request. */
      500: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /**
       * @description - OP-SYS-UNAVAILABLE, `key_store_unavailable`: API keys cannot be checked. Retry after the time in Retry-After; repeat a create request with the same Idempotency-Key.
       *     - OP-SYS-UNAVAILABLE, `tasks_unavailable`: The tasks service is unreachable. Retry after the time in Retry-After; repeat a create request with the same Idempotency-Key.
       *     - OP-TASK-UPSTREAM-DOWN, `inference_unreachable`: The inference backend is unreachable or answers with an error. Nothing was charged.
       *     - OP-SYS-UNAVAILABLE, `results_unavailable`: The results service is unreachable. Retry after the time in Retry-After; repeat a create request with the same Idempotency-Key.
       *     - OP-SYS-UNAVAILABLE, `object_store_unavailable`: The object store is unreachable. Retry after the time in Retry-After; repeat a create request with the same Idempotency-Key.
       */
      503: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'Cache-Control': components['headers']['Cache-Control'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
    };
  };
  listMqttEndpoints: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Your endpoints */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "items": [
           *         {
           *           "endpoint_id": "home",
           *           "url": "mqtts://broker.example.org/",
           *           "login": "password",
           *           "username": "vision",
           *           "topic_prefix": "home/vision",
           *           "event_types": [
           *             "alarm.opened",
           *             "alarm.closed"
           *           ],
           *           "enabled": true,
           *           "sequence": 1773563401262,
           *           "created_at": "2026-03-15T08:00:00.000Z",
           *           "updated_at": "2026-03-15T08:00:00.000Z",
           *           "connected_since": "2026-03-15T08:00:01.000Z"
           *         }
           *       ]
           *     }
           */
          'application/json': components['schemas']['MqttEndpointList'];
        };
      };
      /** @description - OP-TASK-REQUEST-INVALID, `unknown_field`: This operation takes no query parameters. */
      400: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /**
       * @description - OP-AUTH-REQUIRED, `api_key_missing`: The request has no header Authorization. Send a valid key in the header "Authorization: Bearer <API_KEY>".
       *     - OP-AUTH-REQUIRED, `api_key_invalid`: The API key is malformed, unknown, expired or revoked. Send a valid key in the header "Authorization: Bearer <API_KEY>".
       */
      401: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'Cache-Control': components['headers']['Cache-Control'];
          'WWW-Authenticate': components['headers']['WWW-Authenticate'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description - `scope_missing`: This operation requires an API key with the scope notify. */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /**
       * @description - OP-QUOTA-RATE-LIMITED, `rate_exceeded`: The subject sends too many requests per second. Retry after the time in Retry-After.
       *     - OP-QUOTA-RATE-LIMITED, `too_many_invalid_keys`: The network of the client has sent too many invalid API keys. Retry after the time in Retry-After.
       */
      429: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description - `internal`: The service has a defect; include trace_id in a support request. */
      500: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description - OP-SYS-UNAVAILABLE, `key_store_unavailable`: API keys cannot be checked. Retry after the time in Retry-After; repeat a create request with the same Idempotency-Key. */
      503: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
    };
  };
  getMqttEndpoint: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        endpoint_id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description The endpoint */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "endpoint_id": "home",
           *       "url": "mqtts://broker.example.org/",
           *       "login": "password",
           *       "username": "vision",
           *       "topic_prefix": "home/vision",
           *       "event_types": [
           *         "alarm.opened",
           *         "alarm.closed"
           *       ],
           *       "enabled": true,
           *       "sequence": 1773563401262,
           *       "created_at": "2026-03-15T08:00:00.000Z",
           *       "updated_at": "2026-03-15T08:00:00.000Z",
           *       "connected_since": "2026-03-15T08:00:01.000Z"
           *     }
           */
          'application/json': components['schemas']['MqttEndpoint'];
        };
      };
      /** @description - OP-TASK-REQUEST-INVALID, `unknown_field`: This operation takes no query parameters. */
      400: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /**
       * @description - OP-AUTH-REQUIRED, `api_key_missing`: The request has no header Authorization. Send a valid key in the header "Authorization: Bearer <API_KEY>".
       *     - OP-AUTH-REQUIRED, `api_key_invalid`: The API key is malformed, unknown, expired or revoked. Send a valid key in the header "Authorization: Bearer <API_KEY>".
       */
      401: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'Cache-Control': components['headers']['Cache-Control'];
          'WWW-Authenticate': components['headers']['WWW-Authenticate'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description - `scope_missing`: This operation requires an API key with the scope notify. */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /**
       * @description - `mqtt_endpoint_not_found`: You have no MQTT endpoint with this endpoint_id.
       *     - `not_found`: There is no such resource.
       */
      404: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /**
       * @description - OP-QUOTA-RATE-LIMITED, `rate_exceeded`: The subject sends too many requests per second. Retry after the time in Retry-After.
       *     - OP-QUOTA-RATE-LIMITED, `too_many_invalid_keys`: The network of the client has sent too many invalid API keys. Retry after the time in Retry-After.
       */
      429: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description - `internal`: The service has a defect; include trace_id in a support request. */
      500: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description - OP-SYS-UNAVAILABLE, `key_store_unavailable`: API keys cannot be checked. Retry after the time in Retry-After; repeat a create request with the same Idempotency-Key. */
      503: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
    };
  };
  putMqttEndpoint: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        endpoint_id: string;
      };
      cookie?: never;
    };
    requestBody: {
      content: {
        /**
         * @example {
         *       "url": "mqtts://broker.example.org/",
         *       "login": {
         *         "username": "vision",
         *         "password": "a-password-of-yours"
         *       },
         *       "topic_prefix": "home/vision",
         *       "event_types": [
         *         "alarm.opened",
         *         "alarm.closed"
         *       ],
         *       "enabled": true
         *     }
         */
        'application/json': components['schemas']['MqttEndpointRequest'];
      };
    };
    responses: {
      /** @description The endpoint was replaced */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "endpoint_id": "home",
           *       "url": "mqtts://broker.example.org/",
           *       "login": "password",
           *       "username": "vision",
           *       "topic_prefix": "home/vision",
           *       "event_types": [
           *         "alarm.opened",
           *         "alarm.closed"
           *       ],
           *       "enabled": true,
           *       "sequence": 1773563401262,
           *       "created_at": "2026-03-15T08:00:00.000Z",
           *       "updated_at": "2026-03-15T08:00:00.000Z",
           *       "connected_since": "2026-03-15T08:00:01.000Z"
           *     }
           */
          'application/json': components['schemas']['MqttEndpoint'];
        };
      };
      /** @description The endpoint was created */
      201: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "endpoint_id": "home",
           *       "url": "mqtts://broker.example.org/",
           *       "login": "password",
           *       "username": "vision",
           *       "topic_prefix": "home/vision",
           *       "event_types": [
           *         "alarm.opened",
           *         "alarm.closed"
           *       ],
           *       "enabled": true,
           *       "sequence": 1773563401262,
           *       "created_at": "2026-03-15T08:00:00.000Z",
           *       "updated_at": "2026-03-15T08:00:00.000Z"
           *     }
           */
          'application/json': components['schemas']['MqttEndpoint'];
        };
      };
      /**
       * @description - OP-TASK-REQUEST-INVALID, `body_invalid`: topic_prefix: Send a text that matches /^[A-Za-z0-9._:-]{1,64}(?:\/[A-Za-z0-9._:-]{1,64}){0,7}$/.
       *     - OP-TASK-REQUEST-INVALID, `unknown_field`: retain: This operation does not accept it.
       *     - OP-TASK-REQUEST-INVALID, `mqtt_url_invalid`: The url must begin with mqtts://.
       *     - OP-TASK-REQUEST-INVALID, `mqtt_login_invalid`: login: send certificates in PEM, beginning with -----BEGIN CERTIFICATE-----.
       */
      400: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /**
       * @description - OP-AUTH-REQUIRED, `api_key_missing`: The request has no header Authorization. Send a valid key in the header "Authorization: Bearer <API_KEY>".
       *     - OP-AUTH-REQUIRED, `api_key_invalid`: The API key is malformed, unknown, expired or revoked. Send a valid key in the header "Authorization: Bearer <API_KEY>".
       */
      401: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'Cache-Control': components['headers']['Cache-Control'];
          'WWW-Authenticate': components['headers']['WWW-Authenticate'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description - `scope_missing`: This operation requires an API key with the scope notify. */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description - `not_found`: There is no such resource. */
      404: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description - `limit_reached`: You have 10 MQTT endpoints; delete one first. */
      409: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /**
       * @description - OP-QUOTA-RATE-LIMITED, `rate_exceeded`: The subject sends too many requests per second. Retry after the time in Retry-After.
       *     - OP-QUOTA-RATE-LIMITED, `too_many_invalid_keys`: The network of the client has sent too many invalid API keys. Retry after the time in Retry-After.
       */
      429: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description - `internal`: The service has a defect; include trace_id in a support request. */
      500: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /**
       * @description - OP-SYS-UNAVAILABLE, `webhooks_not_configured`: The service has no keys for webhook and MQTT endpoints. Retry after the time in Retry-After; repeat a create request with the same Idempotency-Key.
       *     - OP-SYS-UNAVAILABLE, `key_store_unavailable`: API keys cannot be checked. Retry after the time in Retry-After; repeat a create request with the same Idempotency-Key.
       */
      503: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
    };
  };
  deleteMqttEndpoint: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        endpoint_id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description There is no such endpoint any more */
      204: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          [name: string]: unknown;
        };
        content?: never;
      };
      /** @description - OP-TASK-REQUEST-INVALID, `unknown_field`: This operation takes no query parameters. */
      400: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /**
       * @description - OP-AUTH-REQUIRED, `api_key_missing`: The request has no header Authorization. Send a valid key in the header "Authorization: Bearer <API_KEY>".
       *     - OP-AUTH-REQUIRED, `api_key_invalid`: The API key is malformed, unknown, expired or revoked. Send a valid key in the header "Authorization: Bearer <API_KEY>".
       */
      401: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'Cache-Control': components['headers']['Cache-Control'];
          'WWW-Authenticate': components['headers']['WWW-Authenticate'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description - `scope_missing`: This operation requires an API key with the scope notify. */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description - `not_found`: There is no such resource. */
      404: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /**
       * @description - OP-QUOTA-RATE-LIMITED, `rate_exceeded`: The subject sends too many requests per second. Retry after the time in Retry-After.
       *     - OP-QUOTA-RATE-LIMITED, `too_many_invalid_keys`: The network of the client has sent too many invalid API keys. Retry after the time in Retry-After.
       */
      429: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description - `internal`: The service has a defect; include trace_id in a support request. */
      500: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description - OP-SYS-UNAVAILABLE, `key_store_unavailable`: API keys cannot be checked. Retry after the time in Retry-After; repeat a create request with the same Idempotency-Key. */
      503: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
    };
  };
  getSettings: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Settings */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "snapshots": "tracks"
           *     }
           */
          'application/json': components['schemas']['Settings'];
        };
      };
      /** @description - OP-TASK-REQUEST-INVALID, `unknown_field`: This operation takes no query parameters. */
      400: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /**
       * @description - OP-AUTH-REQUIRED, `api_key_missing`: The request has no header Authorization. Send a valid key in the header "Authorization: Bearer <API_KEY>".
       *     - OP-AUTH-REQUIRED, `api_key_invalid`: The API key is malformed, unknown, expired or revoked. Send a valid key in the header "Authorization: Bearer <API_KEY>".
       */
      401: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'Cache-Control': components['headers']['Cache-Control'];
          'WWW-Authenticate': components['headers']['WWW-Authenticate'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description - `scope_missing`: This operation requires an API key with the scope read. */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /**
       * @description - OP-QUOTA-RATE-LIMITED, `rate_exceeded`: The subject sends too many requests per second. Retry after the time in Retry-After.
       *     - OP-QUOTA-RATE-LIMITED, `too_many_invalid_keys`: The network of the client has sent too many invalid API keys. Retry after the time in Retry-After.
       */
      429: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description - `internal`: The service has a defect; include trace_id in a support request. */
      500: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description - OP-SYS-UNAVAILABLE, `key_store_unavailable`: API keys cannot be checked. Retry after the time in Retry-After; repeat a create request with the same Idempotency-Key. */
      503: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
    };
  };
  putSettings: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        /**
         * @example {
         *       "snapshots": "tracks"
         *     }
         */
        'application/json': components['schemas']['Settings'];
      };
    };
    responses: {
      /** @description Settings after the change */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "snapshots": "tracks"
           *     }
           */
          'application/json': components['schemas']['Settings'];
        };
      };
      /** @description - OP-TASK-REQUEST-INVALID, `unknown_field`: This operation takes no query parameters. */
      400: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /**
       * @description - OP-AUTH-REQUIRED, `api_key_missing`: The request has no header Authorization. Send a valid key in the header "Authorization: Bearer <API_KEY>".
       *     - OP-AUTH-REQUIRED, `api_key_invalid`: The API key is malformed, unknown, expired or revoked. Send a valid key in the header "Authorization: Bearer <API_KEY>".
       */
      401: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'Cache-Control': components['headers']['Cache-Control'];
          'WWW-Authenticate': components['headers']['WWW-Authenticate'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description - `scope_missing`: This operation requires an API key with the scope create. */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /**
       * @description - OP-QUOTA-RATE-LIMITED, `rate_exceeded`: The subject sends too many requests per second. Retry after the time in Retry-After.
       *     - OP-QUOTA-RATE-LIMITED, `too_many_invalid_keys`: The network of the client has sent too many invalid API keys. Retry after the time in Retry-After.
       */
      429: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description - `internal`: The service has a defect; include trace_id in a support request. */
      500: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description - OP-SYS-UNAVAILABLE, `key_store_unavailable`: API keys cannot be checked. Retry after the time in Retry-After; repeat a create request with the same Idempotency-Key. */
      503: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
    };
  };
  createStreamProbe: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        /**
         * @example {
         *       "scene_code": "person_vehicle",
         *       "stream_url": "rtsp://user:secret@camera.example.org/yard"
         *     }
         */
        'application/json': components['schemas']['NewStreamProbeRequest'];
      };
    };
    responses: {
      /** @description The stream was reached */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "codec": "h264",
           *       "image": {
           *         "width": 1920,
           *         "height": 1080
           *       },
           *       "fps": 25,
           *       "snapshot": {
           *         "media_type": "image/jpeg",
           *         "data": "/9j/4AAQSkZJRgABAQAAAQABAAD/2wBD"
           *       },
           *       "objects": [
           *         {
           *           "label": "person",
           *           "score": 0.91,
           *           "bbox": {
           *             "format": "cxcywh_normalized",
           *             "cx": 0.52,
           *             "cy": 0.6,
           *             "width": 0.08,
           *             "height": 0.31
           *           }
           *         }
           *       ],
           *       "capacity": "available"
           *     }
           */
          'application/json': components['schemas']['StreamProbe'];
        };
      };
      /**
       * @description - OP-TASK-REQUEST-INVALID, `stream_url_invalid`: The stream_url must begin with http://, https://, rtsp:// or rtmp://.
       *     - OP-TASK-REQUEST-INVALID, `unknown_field`: colour: This operation does not accept it.
       *     - OP-TASK-REQUEST-INVALID, `scene_code_invalid`: Send scene_code as a text.
       *     - OP-TASK-REQUEST-INVALID, `stream_unreachable`: The stream could not be reached or did not answer as a stream.
       *     - OP-TASK-SCENE-UNAVAILABLE, `scene_unavailable`: This scene does not exist or is not enabled; GET /api/op/v1/scenes lists the scenes.
       */
      400: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /**
       * @description - OP-AUTH-REQUIRED, `api_key_missing`: The request has no header Authorization. Send a valid key in the header "Authorization: Bearer <API_KEY>".
       *     - OP-AUTH-REQUIRED, `api_key_invalid`: The API key is malformed, unknown, expired or revoked. Send a valid key in the header "Authorization: Bearer <API_KEY>".
       */
      401: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'Cache-Control': components['headers']['Cache-Control'];
          'WWW-Authenticate': components['headers']['WWW-Authenticate'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description - `scope_missing`: This operation requires an API key with the scope create. */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /**
       * @description - OP-QUOTA-RATE-LIMITED, `probe_rate`: Too many streams of the subject are probed at once or per minute. Retry after the time in Retry-After.
       *     - OP-QUOTA-RATE-LIMITED, `too_many_in_flight`: Too many requests of this kind run at once for the subject; details.limit names the limit. Retry after the time in Retry-After.
       *     - OP-QUOTA-RATE-LIMITED, `processor_time_exceeded`: Images and videos of the subject have used more processor time than their share. Retry after the time in Retry-After.
       *     - OP-QUOTA-RATE-LIMITED, `rate_exceeded`: The subject sends too many requests per second. Retry after the time in Retry-After.
       *     - OP-QUOTA-RATE-LIMITED, `too_many_invalid_keys`: The network of the client has sent too many invalid API keys. Retry after the time in Retry-After.
       */
      429: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description - `internal`: The service has a defect; include trace_id in a support request. */
      500: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /**
       * @description - OP-TASK-BREAKER-OPEN, `breaker_open`: New work is rejected because recent calls to the inference backend failed. Nothing was charged.
       *     - OP-TASK-BREAKER-OPEN, `maintenance`: The service is under maintenance and accepts no new work. Nothing was charged.
       *     - OP-TASK-UPSTREAM-DOWN, `inference_unreachable`: The inference backend is unreachable or answers with an error. Nothing was charged.
       *     - OP-TASK-UPSTREAM-DOWN, `stream_probes_saturated`: The inference backend is busy with other stream probes, or cannot detect objects now; retry later. Nothing was charged.
       *     - OP-SYS-UNAVAILABLE, `key_store_unavailable`: API keys cannot be checked. Retry after the time in Retry-After; repeat a create request with the same Idempotency-Key.
       */
      503: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
    };
  };
  listTasks: {
    parameters: {
      query?: {
        /** @description `next_cursor` of an earlier page */
        cursor?: string;
        /** @description Maximum number of tasks per page */
        limit?: number;
        /** @description `submitting`: charged, being submitted to the inference backend. `resolving`: the outcome of the submission is unknown and is being determined. `running`: producing frames. `stopping`: a stop was requested. `stopped`, `succeeded`, `failed`: final. `refunded`: never started; the unit was returned. */
        status?: components['schemas']['TaskStatus'];
        scene_code?: string;
        kind?: 'video' | 'image';
        /** @description Only tasks created with this `client_ref` */
        client_ref?: string;
        /** @description Earliest creation time, inclusive */
        created_after?: string;
        /** @description Latest creation time, exclusive; later than `created_after` */
        created_before?: string;
        /** @description Order of creation. Send the same for all pages of a list: a cursor works with no other */
        order?: 'newest' | 'oldest';
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Page of tasks */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "items": [
           *         {
           *           "task_id": "019cf0a3-5b1e-7c44-9a51-6f0d2b7e8c10",
           *           "request_id": "8f14e45f-ceea-467f-9d0a-2c1b6e0f7a31",
           *           "scene_code": "person_vehicle",
           *           "status": "running",
           *           "result_expires_at": "2026-06-13T08:30:00.000Z",
           *           "created_at": "2026-03-15T08:30:00.000Z",
           *           "updated_at": "2026-03-15T08:30:01.250Z",
           *           "kind": "video",
           *           "client_ref": "yard-gate-3"
           *         }
           *       ],
           *       "next_cursor": ""
           *     }
           */
          'application/json': components['schemas']['TaskPage'];
        };
      };
      /**
       * @description - OP-TASK-REQUEST-INVALID, `cursor_invalid`: cursor: send the next_cursor of an earlier page of this list, with the same order.
       *     - OP-TASK-REQUEST-INVALID, `unknown_field`: colour: This operation does not accept it.
       */
      400: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /**
       * @description - OP-AUTH-REQUIRED, `api_key_missing`: The request has no header Authorization. Send a valid key in the header "Authorization: Bearer <API_KEY>".
       *     - OP-AUTH-REQUIRED, `api_key_invalid`: The API key is malformed, unknown, expired or revoked. Send a valid key in the header "Authorization: Bearer <API_KEY>".
       */
      401: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'Cache-Control': components['headers']['Cache-Control'];
          'WWW-Authenticate': components['headers']['WWW-Authenticate'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description - `scope_missing`: This operation requires an API key with the scope read. */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /**
       * @description - OP-QUOTA-RATE-LIMITED, `rate_exceeded`: The subject sends too many requests per second. Retry after the time in Retry-After.
       *     - OP-QUOTA-RATE-LIMITED, `too_many_invalid_keys`: The network of the client has sent too many invalid API keys. Retry after the time in Retry-After.
       */
      429: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description - `internal`: The service has a defect; include trace_id in a support request. */
      500: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description - OP-SYS-UNAVAILABLE, `key_store_unavailable`: API keys cannot be checked. Retry after the time in Retry-After; repeat a create request with the same Idempotency-Key. */
      503: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
    };
  };
  createStreamTask: {
    parameters: {
      query?: {
        /** @description Name of your own for a camera or an order. The task list shows it and filters by it. It is part of the request: a repeat with another value is rejected. */
        client_ref?: string;
        /** @description `tracks`: an image of each track is stored and, for streams, live snapshots are answered. `off`: neither. It cannot be changed later. Without it, the setting of the subject applies (`/v1/vision/settings`). It is part of the request: a repeat with another value is rejected. */
        snapshots?: 'off' | 'tracks';
        /** @description Time without a frame after which the task fails with `source_lost`, in seconds, 60 to 86400. By default 600 (`SOURCE_GIVE_UP_MS` of the operator). After ten minutes without a frame the task stays `running` but holds no capacity: the service connects about once a minute, when there is capacity for it. `GET …/source` says when the last frame came and when the task fails: after ten minutes where the inference backend does not have this feature, as during an upgrade. It is part of the request: a repeat with another value is rejected. */
        give_up_after_s?: number;
      };
      header: {
        /** @description A UUID that you generate for each new request. Repeating the same request with the same key returns the original result; a different request with the same key is rejected. */
        'Idempotency-Key': string;
      };
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        /**
         * @example {
         *       "scene_code": "person_vehicle",
         *       "stream_url": "rtsp://user:secret@camera.example.org/yard"
         *     }
         */
        'application/json': components['schemas']['NewStreamTask'];
      };
    };
    responses: {
      /** @description Idempotent replay: current state of the original task */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Idempotency-Replayed': components['headers']['Idempotency-Replayed'];
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "task_id": "019cf0a3-5b1e-7c44-9a51-6f0d2b7e8c10",
           *       "request_id": "8f14e45f-ceea-467f-9d0a-2c1b6e0f7a31",
           *       "scene_code": "person_vehicle",
           *       "status": "running",
           *       "result_expires_at": "2026-06-13T08:30:00.000Z",
           *       "created_at": "2026-03-15T08:30:00.000Z",
           *       "updated_at": "2026-03-15T08:30:01.250Z"
           *     }
           */
          'application/json': components['schemas']['Task'];
        };
      };
      /** @description Task created. `status` is `refunded` if the inference backend rejected it; the unit was returned. */
      201: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "task_id": "019cf0a3-5b1e-7c44-9a51-6f0d2b7e8c10",
           *       "request_id": "8f14e45f-ceea-467f-9d0a-2c1b6e0f7a31",
           *       "scene_code": "person_vehicle",
           *       "status": "running",
           *       "result_expires_at": "2026-06-13T08:30:00.000Z",
           *       "created_at": "2026-03-15T08:30:00.000Z",
           *       "updated_at": "2026-03-15T08:30:01.250Z"
           *     }
           */
          'application/json': components['schemas']['Task'];
        };
      };
      /** @description Outcome of the submission unknown (`resolving`): poll the task; do not resend with a new key. */
      202: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "task_id": "019cf0a3-5b1e-7c44-9a51-6f0d2b7e8c10",
           *       "request_id": "8f14e45f-ceea-467f-9d0a-2c1b6e0f7a31",
           *       "scene_code": "person_vehicle",
           *       "status": "resolving",
           *       "result_expires_at": "2026-06-13T08:30:00.000Z",
           *       "created_at": "2026-03-15T08:30:00.000Z",
           *       "updated_at": "2026-03-15T08:30:01.250Z"
           *     }
           */
          'application/json': components['schemas']['Task'];
        };
      };
      /**
       * @description - OP-TASK-REQUEST-INVALID, `stream_url_invalid`: The stream_url must begin with http://, https://, rtsp:// or rtmp://.
       *     - OP-TASK-REQUEST-INVALID, `unknown_field`: colour: This operation does not accept it.
       *     - OP-TASK-REQUEST-INVALID, `scene_code_invalid`: Send scene_code as a text.
       *     - OP-TASK-REQUEST-INVALID, `stream_unreachable`: The stream could not be reached or did not answer as a stream.
       *     - OP-TASK-REQUEST-INVALID, `idempotency_key_missing`: Send an Idempotency-Key header with a UUID of your own.
       *     - OP-TASK-REQUEST-INVALID, `idempotency_key_invalid`: Send one Idempotency-Key in UUID form (8-4-4-4-12).
       *     - OP-TASK-REQUEST-INVALID, `idempotency_key_reused`: This Idempotency-Key was used for another request; send a new key for a new request.
       *     - OP-TASK-SCENE-UNAVAILABLE, `scene_unavailable`: This scene does not exist or is not enabled; GET /api/op/v1/scenes lists the scenes.
       */
      400: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /**
       * @description - OP-AUTH-REQUIRED, `api_key_missing`: The request has no header Authorization. Send a valid key in the header "Authorization: Bearer <API_KEY>".
       *     - OP-AUTH-REQUIRED, `api_key_invalid`: The API key is malformed, unknown, expired or revoked. Send a valid key in the header "Authorization: Bearer <API_KEY>".
       */
      401: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'Cache-Control': components['headers']['Cache-Control'];
          'WWW-Authenticate': components['headers']['WWW-Authenticate'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description - `scope_missing`: This operation requires an API key with the scope create. */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description - `task_not_found`: The task of this Idempotency-Key was deleted. */
      404: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /**
       * @description - OP-QUOTA-RATE-LIMITED, `probe_rate`: Too many streams of the subject are probed at once or per minute. Retry after the time in Retry-After.
       *     - OP-QUOTA-DAILY-EXHAUSTED, `daily_quota_exhausted`: Today's quota does not cover this request.
       *     - OP-QUOTA-RATE-LIMITED, `active_tasks`: Too many video tasks of the subject have not ended. Retry after the time in Retry-After.
       *     - OP-QUOTA-RATE-LIMITED, `rate_exceeded`: The subject sends too many requests per second. Retry after the time in Retry-After.
       *     - OP-QUOTA-RATE-LIMITED, `too_many_invalid_keys`: The network of the client has sent too many invalid API keys. Retry after the time in Retry-After.
       */
      429: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description - `internal`: The service has a defect; include trace_id in a support request. */
      500: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /**
       * @description - OP-TASK-UPSTREAM-DOWN, `inference_unreachable`: The inference backend is unreachable or answers with an error. Nothing was charged.
       *     - OP-TASK-BREAKER-OPEN, `breaker_open`: New work is rejected because recent calls to the inference backend failed. Nothing was charged.
       *     - OP-TASK-BREAKER-OPEN, `maintenance`: The service is under maintenance and accepts no new work. Nothing was charged.
       *     - OP-SYS-UNAVAILABLE, `first_request_still_running`: A request with this Idempotency-Key is still in progress. Retry after the time in Retry-After; repeat a create request with the same Idempotency-Key.
       *     - OP-SYS-UNAVAILABLE, `key_store_unavailable`: API keys cannot be checked. Retry after the time in Retry-After; repeat a create request with the same Idempotency-Key.
       */
      503: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
    };
  };
  getTask: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        task_id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description The task */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "task_id": "019cf0a3-5b1e-7c44-9a51-6f0d2b7e8c10",
           *       "request_id": "8f14e45f-ceea-467f-9d0a-2c1b6e0f7a31",
           *       "scene_code": "person_vehicle",
           *       "status": "succeeded",
           *       "result_expires_at": "2026-06-13T08:30:00.000Z",
           *       "created_at": "2026-03-15T08:30:00.000Z",
           *       "updated_at": "2026-03-15T08:30:01.250Z"
           *     }
           */
          'application/json': components['schemas']['Task'];
        };
      };
      /** @description - OP-TASK-REQUEST-INVALID, `unknown_field`: This operation takes no query parameters. */
      400: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /**
       * @description - OP-AUTH-REQUIRED, `api_key_missing`: The request has no header Authorization. Send a valid key in the header "Authorization: Bearer <API_KEY>".
       *     - OP-AUTH-REQUIRED, `api_key_invalid`: The API key is malformed, unknown, expired or revoked. Send a valid key in the header "Authorization: Bearer <API_KEY>".
       */
      401: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'Cache-Control': components['headers']['Cache-Control'];
          'WWW-Authenticate': components['headers']['WWW-Authenticate'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description - `scope_missing`: This operation requires an API key with the scope read. */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /**
       * @description - `task_not_found`: There is no such task.
       *     - `not_found`: There is no such resource.
       */
      404: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /**
       * @description - OP-QUOTA-RATE-LIMITED, `rate_exceeded`: The subject sends too many requests per second. Retry after the time in Retry-After.
       *     - OP-QUOTA-RATE-LIMITED, `too_many_invalid_keys`: The network of the client has sent too many invalid API keys. Retry after the time in Retry-After.
       */
      429: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description - `internal`: The service has a defect; include trace_id in a support request. */
      500: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description - OP-SYS-UNAVAILABLE, `key_store_unavailable`: API keys cannot be checked. Retry after the time in Retry-After; repeat a create request with the same Idempotency-Key. */
      503: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
    };
  };
  deleteTask: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        task_id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Deleted */
      202: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "task_id": "019cf0a3-5b1e-7c44-9a51-6f0d2b7e8c10",
           *       "deleted_at": "2026-03-15T08:30:01.250Z"
           *     }
           */
          'application/json': components['schemas']['TaskDeletion'];
        };
      };
      /** @description - OP-TASK-REQUEST-INVALID, `unknown_field`: This operation takes no query parameters. */
      400: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /**
       * @description - OP-AUTH-REQUIRED, `api_key_missing`: The request has no header Authorization. Send a valid key in the header "Authorization: Bearer <API_KEY>".
       *     - OP-AUTH-REQUIRED, `api_key_invalid`: The API key is malformed, unknown, expired or revoked. Send a valid key in the header "Authorization: Bearer <API_KEY>".
       */
      401: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'Cache-Control': components['headers']['Cache-Control'];
          'WWW-Authenticate': components['headers']['WWW-Authenticate'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description - `scope_missing`: This operation requires an API key with the scope create. */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /**
       * @description - `task_not_found`: There is no such task.
       *     - `not_found`: There is no such resource.
       */
      404: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description - `task_not_ended`: The task has not ended (running). Stop it first. */
      409: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /**
       * @description - OP-QUOTA-RATE-LIMITED, `rate_exceeded`: The subject sends too many requests per second. Retry after the time in Retry-After.
       *     - OP-QUOTA-RATE-LIMITED, `too_many_invalid_keys`: The network of the client has sent too many invalid API keys. Retry after the time in Retry-After.
       */
      429: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description - `internal`: The service has a defect; include trace_id in a support request. */
      500: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /**
       * @description - OP-SYS-UNAVAILABLE, `images_unavailable`: The images service is unreachable. Retry after the time in Retry-After; repeat a create request with the same Idempotency-Key.
       *     - OP-SYS-UNAVAILABLE, `key_store_unavailable`: API keys cannot be checked. Retry after the time in Retry-After; repeat a create request with the same Idempotency-Key.
       */
      503: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
    };
  };
  getLiveSnapshot: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        task_id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Frame */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'X-Frame-Time-Ms': components['headers']['X-Frame-Time-Ms'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'image/jpeg': Blob;
        };
      };
      /**
       * @description - OP-TASK-REQUEST-INVALID, `not_a_stream`: The task is not of a live stream.
       *     - OP-TASK-REQUEST-INVALID, `unknown_field`: This operation takes no query parameters.
       */
      400: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /**
       * @description - OP-AUTH-REQUIRED, `api_key_missing`: The request has no header Authorization. Send a valid key in the header "Authorization: Bearer <API_KEY>".
       *     - OP-AUTH-REQUIRED, `api_key_invalid`: The API key is malformed, unknown, expired or revoked. Send a valid key in the header "Authorization: Bearer <API_KEY>".
       */
      401: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'Cache-Control': components['headers']['Cache-Control'];
          'WWW-Authenticate': components['headers']['WWW-Authenticate'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description - `scope_missing`: This operation requires an API key with the scope read. */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /**
       * @description - `task_not_found`: There is no such task.
       *     - `snapshots_off`: The task was created without snapshots.
       *     - `snapshot_not_yet`: No frame of the stream arrived in time; retry in some seconds.
       *     - `snapshot_none`: The task has ended, so it has no newest frame.
       *     - `not_supported`: The inference backend creates no snapshots for the task.
       *     - `not_found`: There is no such resource.
       */
      404: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /**
       * @description - OP-QUOTA-RATE-LIMITED, `rate_exceeded`: The subject sends too many requests per second. Retry after the time in Retry-After.
       *     - OP-QUOTA-RATE-LIMITED, `too_many_invalid_keys`: The network of the client has sent too many invalid API keys. Retry after the time in Retry-After.
       */
      429: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description - `internal`: The service has a defect; include trace_id in a support request. */
      500: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /**
       * @description - OP-TASK-UPSTREAM-DOWN, `inference_unreachable`: The inference backend is unreachable or answers with an error. Nothing was charged.
       *     - OP-TASK-UPSTREAM-DOWN, `inference_answer_unexpected`: The inference backend sent a response that its contract does not allow. Nothing was charged.
       *     - OP-TASK-BREAKER-OPEN, `breaker_open`: New work is rejected because recent calls to the inference backend failed. Nothing was charged.
       *     - OP-SYS-UNAVAILABLE, `inference_not_configured`: No inference backend is configured. Retry after the time in Retry-After; repeat a create request with the same Idempotency-Key.
       *     - OP-SYS-UNAVAILABLE, `key_store_unavailable`: API keys cannot be checked. Retry after the time in Retry-After; repeat a create request with the same Idempotency-Key.
       */
      503: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
    };
  };
  getResults: {
    parameters: {
      query?: {
        /** @description `next_cursor` or `resume_cursor` of an earlier page of this task */
        cursor?: string;
        /** @description Maximum number of frames on the page */
        limit?: number;
        /** @description Score threshold, 0 to 1. Values below the lowest stored score have the effect of that score. When omitted, the task's threshold applies */
        min_score?: number;
        /** @description Labels of the objects to return, separated by commas, at most 32. A label that the task does not detect matches no object */
        labels?: string;
        /** @description Earliest `frame_time_ms`, inclusive; negative for uploads only */
        from_ms?: number;
        /** @description Latest `frame_time_ms`, exclusive; later than `from_ms` */
        to_ms?: number;
        /** @description Polygon on the image as `x1,y1,x2,y2,…`: 3 to 16 corners, each coordinate 0 to 1. Its edges do not cross or touch each other. Objects whose anchor lies outside are omitted */
        region?: string;
        /** @description Point of the box that decides whether an object lies in `region`. Default: `bottom_center` */
        anchor?: 'bottom_center' | 'center';
        /** @description Track whose objects are returned */
        track_id?: string;
        /** @description Whether frames without a returned object are omitted */
        skip_empty?: boolean;
      };
      header?: never;
      path: {
        task_id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Page of frames, in video order within the page */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "items": [
           *         {
           *           "frame_id": "019cf0a3-5b1e-7c44-9a51-6f0d2b7e8c10-0",
           *           "frame_time_ms": 40,
           *           "image": {
           *             "width": 1920,
           *             "height": 1080
           *           },
           *           "objects": [
           *             {
           *               "label": "person",
           *               "score": 0.91,
           *               "bbox": {
           *                 "format": "cxcywh_normalized",
           *                 "cx": 0.42,
           *                 "cy": 0.55,
           *                 "width": 0.08,
           *                 "height": 0.31
           *               },
           *               "track_id": "7"
           *             }
           *           ]
           *         }
           *       ],
           *       "next_cursor": "",
           *       "resume_cursor": "AQAAAAAAAAAAAAAAKHs3bq1mS0Vt0hYw4nQyQ2U"
           *     }
           */
          'application/json': components['schemas']['ResultPage'];
        };
      };
      /**
       * @description - OP-TASK-REQUEST-INVALID, `query_invalid`: limit: send a whole number from 1 to 500.
       *     - OP-TASK-REQUEST-INVALID, `unknown_field`: Only cursor, limit, min_score, labels, from_ms, to_ms, region, anchor, track_id, skip_empty are accepted.
       *     - OP-TASK-REQUEST-INVALID, `region_invalid`: region: send 3 to 16 corners as x1,y1,x2,y2,…, each 0 to 1, of a polygon whose edges do not cross.
       *     - OP-TASK-REQUEST-INVALID, `cursor_invalid`: cursor: send the cursor of an earlier page of this list and task, with the same order, or the id of an event.
       *     - OP-TASK-REQUEST-INVALID, `not_a_video_task`: An image call has no result frames; read it at /v1/vision/image-detections/{task_id}.
       */
      400: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /**
       * @description - OP-AUTH-REQUIRED, `api_key_missing`: The request has no header Authorization. Send a valid key in the header "Authorization: Bearer <API_KEY>".
       *     - OP-AUTH-REQUIRED, `api_key_invalid`: The API key is malformed, unknown, expired or revoked. Send a valid key in the header "Authorization: Bearer <API_KEY>".
       */
      401: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'Cache-Control': components['headers']['Cache-Control'];
          'WWW-Authenticate': components['headers']['WWW-Authenticate'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description - `scope_missing`: This operation requires an API key with the scope read. */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /**
       * @description - `task_not_found`: There is no such task.
       *     - `not_found`: There is no such resource.
       */
      404: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /**
       * @description - OP-QUOTA-RATE-LIMITED, `rate_exceeded`: The subject sends too many requests per second. Retry after the time in Retry-After.
       *     - OP-QUOTA-RATE-LIMITED, `too_many_invalid_keys`: The network of the client has sent too many invalid API keys. Retry after the time in Retry-After.
       */
      429: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description - `internal`: The service has a defect; include trace_id in a support request. */
      500: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description - OP-SYS-UNAVAILABLE, `key_store_unavailable`: API keys cannot be checked. Retry after the time in Retry-After; repeat a create request with the same Idempotency-Key. */
      503: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
    };
  };
  getResultStream: {
    parameters: {
      query?: {
        /** @description Cursor of a page or `id` of an event of this task. `Last-Event-ID` takes precedence */
        cursor?: string;
        /** @description Score threshold, 0 to 1. Values below the lowest stored score have the effect of that score. When omitted, the task's threshold applies */
        min_score?: number;
        /** @description Labels of the objects to return, separated by commas, at most 32. A label that the task does not detect matches no object */
        labels?: string;
        /** @description Earliest `frame_time_ms`, inclusive; negative for uploads only */
        from_ms?: number;
        /** @description Latest `frame_time_ms`, exclusive; later than `from_ms` */
        to_ms?: number;
        /** @description Polygon on the image as `x1,y1,x2,y2,…`: 3 to 16 corners, each coordinate 0 to 1. Its edges do not cross or touch each other. Objects whose anchor lies outside are omitted */
        region?: string;
        /** @description Point of the box that decides whether an object lies in `region`. Default: `bottom_center` */
        anchor?: 'bottom_center' | 'center';
        /** @description Track whose objects are returned */
        track_id?: string;
        /** @description Whether frames without a returned object are omitted */
        skip_empty?: boolean;
      };
      header?: {
        /** @description `id` of the last event that you have handled */
        'Last-Event-ID'?: string;
      };
      path: {
        task_id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Server-sent events */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'X-Accel-Buffering': components['headers']['X-Accel-Buffering'];
          [name: string]: unknown;
        };
        content: {
          'text/event-stream': Blob;
        };
      };
      /** @description The task has ended and the client has received `end` */
      204: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          [name: string]: unknown;
        };
        content?: never;
      };
      /**
       * @description - OP-TASK-REQUEST-INVALID, `query_invalid`: labels: send 1 to 32 labels of 1 to 100 characters, separated by commas.
       *     - OP-TASK-REQUEST-INVALID, `unknown_field`: Only cursor, min_score, labels, from_ms, to_ms, region, anchor, track_id, skip_empty are accepted.
       *     - OP-TASK-REQUEST-INVALID, `region_invalid`: region: send 3 to 16 corners as x1,y1,x2,y2,…, each 0 to 1, of a polygon whose edges do not cross.
       *     - OP-TASK-REQUEST-INVALID, `cursor_invalid`: cursor: send the cursor of an earlier page of this list and task, with the same order, or the id of an event.
       *     - OP-TASK-REQUEST-INVALID, `not_a_video_task`: An image call has no result frames; read it at /v1/vision/image-detections/{task_id}.
       */
      400: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /**
       * @description - OP-AUTH-REQUIRED, `api_key_missing`: The request has no header Authorization. Send a valid key in the header "Authorization: Bearer <API_KEY>".
       *     - OP-AUTH-REQUIRED, `api_key_invalid`: The API key is malformed, unknown, expired or revoked. Send a valid key in the header "Authorization: Bearer <API_KEY>".
       */
      401: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'Cache-Control': components['headers']['Cache-Control'];
          'WWW-Authenticate': components['headers']['WWW-Authenticate'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description - `scope_missing`: This operation requires an API key with the scope read. */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /**
       * @description - `task_not_found`: There is no such task.
       *     - `not_found`: There is no such resource.
       */
      404: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /**
       * @description - OP-QUOTA-RATE-LIMITED, `too_many_in_flight`: Too many requests of this kind run at once for the subject; details.limit names the limit. Retry after the time in Retry-After.
       *     - OP-QUOTA-RATE-LIMITED, `rate_exceeded`: The subject sends too many requests per second. Retry after the time in Retry-After.
       *     - OP-QUOTA-RATE-LIMITED, `too_many_invalid_keys`: The network of the client has sent too many invalid API keys. Retry after the time in Retry-After.
       */
      429: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description - `internal`: The service has a defect; include trace_id in a support request. */
      500: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description - OP-SYS-UNAVAILABLE, `key_store_unavailable`: API keys cannot be checked. Retry after the time in Retry-After; repeat a create request with the same Idempotency-Key. */
      503: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
    };
  };
  getSource: {
    parameters: {
      query?: {
        /** @description `next_cursor` of an earlier page of this source */
        cursor?: string;
        /** @description Maximum number of states per page */
        limit?: number;
      };
      header?: never;
      path: {
        task_id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description State of the source with a page of earlier states */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "kind": "stream",
           *       "state": "streaming",
           *       "since_ms": 1790000060000,
           *       "last_frame_time_ms": 1790000120200,
           *       "sample_fps": 5,
           *       "measured_fps": 4.9,
           *       "is_behind": false,
           *       "codec": "h264",
           *       "image": {
           *         "width": 1920,
           *         "height": 1080
           *       },
           *       "frames": {
           *         "stored": 290,
           *         "dropped": {
           *           "fresher": 2,
           *           "no_number": 0,
           *           "not_held": 0,
           *           "unsent": 0
           *         }
           *       },
           *       "reconnects": 1,
           *       "coverage": {
           *         "from_ms": 1790000000000,
           *         "to_ms": 1790000121000,
           *         "covered_ms": 118000,
           *         "gaps": 1
           *       },
           *       "items": [
           *         {
           *           "at_ms": 1790000060000,
           *           "state": "streaming"
           *         },
           *         {
           *           "at_ms": 1790000058000,
           *           "state": "connecting"
           *         }
           *       ],
           *       "next_cursor": ""
           *     }
           */
          'application/json': components['schemas']['TaskSource'];
        };
      };
      /**
       * @description - OP-TASK-REQUEST-INVALID, `query_invalid`: limit: send a whole number from 1 to 500.
       *     - OP-TASK-REQUEST-INVALID, `unknown_field`: Only cursor, limit are accepted.
       *     - OP-TASK-REQUEST-INVALID, `cursor_invalid`: cursor: send the cursor of an earlier page of this list and task, with the same order, or the id of an event.
       *     - OP-TASK-REQUEST-INVALID, `not_a_video_task`: An image call has no result frames; read it at /v1/vision/image-detections/{task_id}.
       */
      400: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /**
       * @description - OP-AUTH-REQUIRED, `api_key_missing`: The request has no header Authorization. Send a valid key in the header "Authorization: Bearer <API_KEY>".
       *     - OP-AUTH-REQUIRED, `api_key_invalid`: The API key is malformed, unknown, expired or revoked. Send a valid key in the header "Authorization: Bearer <API_KEY>".
       */
      401: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'Cache-Control': components['headers']['Cache-Control'];
          'WWW-Authenticate': components['headers']['WWW-Authenticate'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description - `scope_missing`: This operation requires an API key with the scope read. */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /**
       * @description - `task_not_found`: There is no such task.
       *     - `not_found`: There is no such resource.
       */
      404: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /**
       * @description - OP-QUOTA-RATE-LIMITED, `rate_exceeded`: The subject sends too many requests per second. Retry after the time in Retry-After.
       *     - OP-QUOTA-RATE-LIMITED, `too_many_invalid_keys`: The network of the client has sent too many invalid API keys. Retry after the time in Retry-After.
       */
      429: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description - `internal`: The service has a defect; include trace_id in a support request. */
      500: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description - OP-SYS-UNAVAILABLE, `key_store_unavailable`: API keys cannot be checked. Retry after the time in Retry-After; repeat a create request with the same Idempotency-Key. */
      503: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
    };
  };
  stopTask: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        task_id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description The task after the stop */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "task_id": "019cf0a3-5b1e-7c44-9a51-6f0d2b7e8c10",
           *       "request_id": "8f14e45f-ceea-467f-9d0a-2c1b6e0f7a31",
           *       "scene_code": "person_vehicle",
           *       "status": "stopped",
           *       "result_expires_at": "2026-06-13T08:30:00.000Z",
           *       "created_at": "2026-03-15T08:30:00.000Z",
           *       "updated_at": "2026-03-15T08:30:01.250Z"
           *     }
           */
          'application/json': components['schemas']['Task'];
        };
      };
      /** @description - OP-TASK-REQUEST-INVALID, `unknown_field`: This operation takes no query parameters. */
      400: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /**
       * @description - OP-AUTH-REQUIRED, `api_key_missing`: The request has no header Authorization. Send a valid key in the header "Authorization: Bearer <API_KEY>".
       *     - OP-AUTH-REQUIRED, `api_key_invalid`: The API key is malformed, unknown, expired or revoked. Send a valid key in the header "Authorization: Bearer <API_KEY>".
       */
      401: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'Cache-Control': components['headers']['Cache-Control'];
          'WWW-Authenticate': components['headers']['WWW-Authenticate'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description - `scope_missing`: This operation requires an API key with the scope create. */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /**
       * @description - `task_not_found`: There is no such task.
       *     - `not_found`: There is no such resource.
       */
      404: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description - OP-TASK-NOT-STOPPABLE, `task_ended`: The task has already ended (succeeded). */
      409: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /**
       * @description - OP-QUOTA-RATE-LIMITED, `rate_exceeded`: The subject sends too many requests per second. Retry after the time in Retry-After.
       *     - OP-QUOTA-RATE-LIMITED, `too_many_invalid_keys`: The network of the client has sent too many invalid API keys. Retry after the time in Retry-After.
       */
      429: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description - `internal`: The service has a defect; include trace_id in a support request. */
      500: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description - OP-SYS-UNAVAILABLE, `key_store_unavailable`: API keys cannot be checked. Retry after the time in Retry-After; repeat a create request with the same Idempotency-Key. */
      503: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
    };
  };
  getTimeline: {
    parameters: {
      query?: {
        /** @description Start, as `frame_time_ms`, rounded down to a bucket; the start of the task by default. Negative for uploads only */
        from_ms?: number;
        /** @description End, as `frame_time_ms`, exclusive, rounded up to a bucket; the end of the task, or now, by default */
        to_ms?: number;
        /** @description Length of a bucket, in milliseconds. By default the smallest of 60000 or more with which the range has 2,500 buckets at most. 1000 is for uploads, and for 10 minutes of a stream */
        bucket_ms?: '1000' | '60000' | '300000' | '900000' | '3600000' | '86400000';
        /** @description Score from which objects, and tracks by their best score, count: a multiple of 0.05. By default the threshold of the task, rounded down */
        min_score?: number;
      };
      header?: never;
      path: {
        task_id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Timeline */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "bucket_ms": 300000,
           *       "min_score": 0.5,
           *       "as_of_ms": 1773565799800,
           *       "coverage": {
           *         "from_ms": 1773565200000,
           *         "to_ms": 1773565800000,
           *         "covered_ms": 570000,
           *         "gaps": 1
           *       },
           *       "items": [
           *         {
           *           "from_ms": 1773565200000,
           *           "covered_ms": 300000,
           *           "frames": 1500,
           *           "labels": [
           *             {
           *               "label": "person",
           *               "tracks_begun": 2,
           *               "objects_max": 2,
           *               "object_frames": 214
           *             }
           *           ]
           *         },
           *         {
           *           "from_ms": 1773565500000,
           *           "covered_ms": 270000,
           *           "frames": 1350,
           *           "labels": []
           *         }
           *       ],
           *       "gaps": [
           *         {
           *           "from_ms": 1773565560000,
           *           "to_ms": 1773565590000,
           *           "reason": "source_away"
           *         }
           *       ]
           *     }
           */
          'application/json': components['schemas']['Timeline'];
        };
      };
      /**
       * @description - OP-TASK-REQUEST-INVALID, `query_invalid`: bucket_ms: send one of 1000, 60000, 300000, 900000, 3600000, 86400000.
       *     - OP-TASK-REQUEST-INVALID, `unknown_field`: Only from_ms, to_ms, bucket_ms, min_score are accepted.
       *     - OP-TASK-REQUEST-INVALID, `too_many_buckets`: At most 2500 buckets of this size; send a larger bucket_ms or a shorter time.
       *     - OP-TASK-REQUEST-INVALID, `not_a_video_task`: An image call has no result frames; read it at /v1/vision/image-detections/{task_id}.
       */
      400: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /**
       * @description - OP-AUTH-REQUIRED, `api_key_missing`: The request has no header Authorization. Send a valid key in the header "Authorization: Bearer <API_KEY>".
       *     - OP-AUTH-REQUIRED, `api_key_invalid`: The API key is malformed, unknown, expired or revoked. Send a valid key in the header "Authorization: Bearer <API_KEY>".
       */
      401: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'Cache-Control': components['headers']['Cache-Control'];
          'WWW-Authenticate': components['headers']['WWW-Authenticate'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description - `scope_missing`: This operation requires an API key with the scope read. */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /**
       * @description - `task_not_found`: There is no such task.
       *     - `not_found`: There is no such resource.
       */
      404: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /**
       * @description - OP-QUOTA-RATE-LIMITED, `rate_exceeded`: The subject sends too many requests per second. Retry after the time in Retry-After.
       *     - OP-QUOTA-RATE-LIMITED, `too_many_invalid_keys`: The network of the client has sent too many invalid API keys. Retry after the time in Retry-After.
       */
      429: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description - `internal`: The service has a defect; include trace_id in a support request. */
      500: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description - OP-SYS-UNAVAILABLE, `key_store_unavailable`: API keys cannot be checked. Retry after the time in Retry-After; repeat a create request with the same Idempotency-Key. */
      503: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
    };
  };
  listTracks: {
    parameters: {
      query?: {
        /** @description Cursor of an earlier page of this task with the same `order` */
        cursor?: string;
        /** @description Tracks on a page */
        limit?: number;
        /** @description `oldest`, `newest`: by first frame. `changed`: by latest change, to follow a running task */
        order?: 'oldest' | 'newest' | 'changed';
        /** @description Labels to list, comma separated, at most 32. An unknown label matches no track */
        labels?: string;
        /** @description Lists tracks whose last frame is at or after this `frame_time_ms`; negative for uploads only */
        from_ms?: number;
        /** @description Lists tracks whose first frame is before this `frame_time_ms` */
        to_ms?: number;
        /** @description Lowest best score of a track, 0 to 1; the threshold of the task by default */
        min_score?: number;
        /** @description Shortest time between first and last frame, in milliseconds */
        min_duration_ms?: number;
        /** @description State of the tracks. A page may hold fewer than `limit` */
        state?: 'active' | 'ended';
      };
      header?: never;
      path: {
        task_id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Page of tracks */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "items": [
           *         {
           *           "track_id": "a1-7",
           *           "label": "person",
           *           "state": "ended",
           *           "ended_by": "left",
           *           "first_time_ms": 1773565200000,
           *           "last_time_ms": 1773565212400,
           *           "frames": 63,
           *           "best": {
           *             "frame_id": "019cf0a3-5b1e-7c44-9a51-6f0d2b7e8c10-31",
           *             "frame_time_ms": 1773565206200,
           *             "score": 0.91,
           *             "bbox": {
           *               "format": "cxcywh_normalized",
           *               "cx": 0.42,
           *               "cy": 0.55,
           *               "width": 0.08,
           *               "height": 0.31
           *             }
           *           },
           *           "first_bbox": {
           *             "format": "cxcywh_normalized",
           *             "cx": 0.42,
           *             "cy": 0.55,
           *             "width": 0.08,
           *             "height": 0.31
           *           },
           *           "last_bbox": {
           *             "format": "cxcywh_normalized",
           *             "cx": 0.42,
           *             "cy": 0.55,
           *             "width": 0.08,
           *             "height": 0.31
           *           },
           *           "mean_score": 0.8412,
           *           "snapshot": {
           *             "state": "available",
           *             "frame_id": "019cf0a3-5b1e-7c44-9a51-6f0d2b7e8c10-31",
           *             "frame_time_ms": 1773565206200,
           *             "width": 180,
           *             "height": 402,
           *             "expires_at": "2026-04-14T08:30:12.000Z"
           *           }
           *         }
           *       ],
           *       "next_cursor": "",
           *       "resume_cursor": "AQAAAAGdMWlDkGExLTcoezdubWZLRW0d3TBYidDJDZQ",
           *       "as_of_ms": 1773565260000
           *     }
           */
          'application/json': components['schemas']['TrackPage'];
        };
      };
      /**
       * @description - OP-TASK-REQUEST-INVALID, `query_invalid`: limit: send a whole number from 1 to 500.
       *     - OP-TASK-REQUEST-INVALID, `unknown_field`: Only cursor, limit, order, labels, from_ms, to_ms, min_score, min_duration_ms, state are accepted.
       *     - OP-TASK-REQUEST-INVALID, `cursor_invalid`: cursor: send the cursor of an earlier page of this list and task, with the same order, or the id of an event.
       *     - OP-TASK-REQUEST-INVALID, `not_a_video_task`: An image call has no result frames; read it at /v1/vision/image-detections/{task_id}.
       */
      400: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /**
       * @description - OP-AUTH-REQUIRED, `api_key_missing`: The request has no header Authorization. Send a valid key in the header "Authorization: Bearer <API_KEY>".
       *     - OP-AUTH-REQUIRED, `api_key_invalid`: The API key is malformed, unknown, expired or revoked. Send a valid key in the header "Authorization: Bearer <API_KEY>".
       */
      401: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'Cache-Control': components['headers']['Cache-Control'];
          'WWW-Authenticate': components['headers']['WWW-Authenticate'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description - `scope_missing`: This operation requires an API key with the scope read. */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /**
       * @description - `task_not_found`: There is no such task.
       *     - `not_found`: There is no such resource.
       */
      404: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /**
       * @description - OP-QUOTA-RATE-LIMITED, `rate_exceeded`: The subject sends too many requests per second. Retry after the time in Retry-After.
       *     - OP-QUOTA-RATE-LIMITED, `too_many_invalid_keys`: The network of the client has sent too many invalid API keys. Retry after the time in Retry-After.
       */
      429: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description - `internal`: The service has a defect; include trace_id in a support request. */
      500: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description - OP-SYS-UNAVAILABLE, `key_store_unavailable`: API keys cannot be checked. Retry after the time in Retry-After; repeat a create request with the same Idempotency-Key. */
      503: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
    };
  };
  getTrack: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        task_id: string;
        /** @description `track_id` of an object of the task */
        track_id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description The track */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "track_id": "a1-7",
           *       "label": "person",
           *       "state": "ended",
           *       "ended_by": "left",
           *       "first_time_ms": 1773565200000,
           *       "last_time_ms": 1773565212400,
           *       "frames": 63,
           *       "best": {
           *         "frame_id": "019cf0a3-5b1e-7c44-9a51-6f0d2b7e8c10-31",
           *         "frame_time_ms": 1773565206200,
           *         "score": 0.91,
           *         "bbox": {
           *           "format": "cxcywh_normalized",
           *           "cx": 0.42,
           *           "cy": 0.55,
           *           "width": 0.08,
           *           "height": 0.31
           *         }
           *       },
           *       "first_bbox": {
           *         "format": "cxcywh_normalized",
           *         "cx": 0.42,
           *         "cy": 0.55,
           *         "width": 0.08,
           *         "height": 0.31
           *       },
           *       "last_bbox": {
           *         "format": "cxcywh_normalized",
           *         "cx": 0.42,
           *         "cy": 0.55,
           *         "width": 0.08,
           *         "height": 0.31
           *       },
           *       "mean_score": 0.8412,
           *       "snapshot": {
           *         "state": "available",
           *         "frame_id": "019cf0a3-5b1e-7c44-9a51-6f0d2b7e8c10-31",
           *         "frame_time_ms": 1773565206200,
           *         "width": 180,
           *         "height": 402,
           *         "expires_at": "2026-04-14T08:30:12.000Z"
           *       }
           *     }
           */
          'application/json': components['schemas']['Track'];
        };
      };
      /**
       * @description - OP-TASK-REQUEST-INVALID, `not_a_video_task`: An image call has no result frames; read it at /v1/vision/image-detections/{task_id}.
       *     - OP-TASK-REQUEST-INVALID, `unknown_field`: This operation takes no query parameters.
       */
      400: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /**
       * @description - OP-AUTH-REQUIRED, `api_key_missing`: The request has no header Authorization. Send a valid key in the header "Authorization: Bearer <API_KEY>".
       *     - OP-AUTH-REQUIRED, `api_key_invalid`: The API key is malformed, unknown, expired or revoked. Send a valid key in the header "Authorization: Bearer <API_KEY>".
       */
      401: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'Cache-Control': components['headers']['Cache-Control'];
          'WWW-Authenticate': components['headers']['WWW-Authenticate'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description - `scope_missing`: This operation requires an API key with the scope read. */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /**
       * @description - `track_not_found`: This task has no such track.
       *     - `task_not_found`: There is no such task.
       *     - `not_found`: There is no such resource.
       */
      404: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /**
       * @description - OP-QUOTA-RATE-LIMITED, `rate_exceeded`: The subject sends too many requests per second. Retry after the time in Retry-After.
       *     - OP-QUOTA-RATE-LIMITED, `too_many_invalid_keys`: The network of the client has sent too many invalid API keys. Retry after the time in Retry-After.
       */
      429: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description - `internal`: The service has a defect; include trace_id in a support request. */
      500: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description - OP-SYS-UNAVAILABLE, `key_store_unavailable`: API keys cannot be checked. Retry after the time in Retry-After; repeat a create request with the same Idempotency-Key. */
      503: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
    };
  };
  getTrackSnapshot: {
    parameters: {
      query?: never;
      header?: {
        /** @description Entity tags; if one is that of the image, the response is 304 */
        'If-None-Match'?: string;
      };
      path: {
        task_id: string;
        /** @description `track_id` of an object of the task */
        track_id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Image */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'X-Frame-Time-Ms': components['headers']['X-Frame-Time-Ms'];
          'Cache-Control': components['headers']['Cache-Control'];
          ETag: components['headers']['ETag'];
          [name: string]: unknown;
        };
        content: {
          'image/jpeg': Blob;
        };
      };
      /** @description Not modified */
      304: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          ETag: components['headers']['ETag'];
          [name: string]: unknown;
        };
        content?: never;
      };
      /**
       * @description - OP-TASK-REQUEST-INVALID, `not_a_video_task`: An image call has no result frames; read it at /v1/vision/image-detections/{task_id}.
       *     - OP-TASK-REQUEST-INVALID, `unknown_field`: This operation takes no query parameters.
       */
      400: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /**
       * @description - OP-AUTH-REQUIRED, `api_key_missing`: The request has no header Authorization. Send a valid key in the header "Authorization: Bearer <API_KEY>".
       *     - OP-AUTH-REQUIRED, `api_key_invalid`: The API key is malformed, unknown, expired or revoked. Send a valid key in the header "Authorization: Bearer <API_KEY>".
       */
      401: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'Cache-Control': components['headers']['Cache-Control'];
          'WWW-Authenticate': components['headers']['WWW-Authenticate'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description - `scope_missing`: This operation requires an API key with the scope read. */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /**
       * @description - `track_not_found`: This task has no such track.
       *     - `task_not_found`: There is no such task.
       *     - `snapshots_off`: The task was created without snapshots.
       *     - `snapshot_not_yet`: No image of the track is stored yet; retry in some seconds.
       *     - `snapshot_none`: There is no image of the track; `snapshot.reason` of the track says why.
       *     - `not_found`: There is no such resource.
       */
      404: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /**
       * @description - OP-QUOTA-RATE-LIMITED, `rate_exceeded`: The subject sends too many requests per second. Retry after the time in Retry-After.
       *     - OP-QUOTA-RATE-LIMITED, `too_many_invalid_keys`: The network of the client has sent too many invalid API keys. Retry after the time in Retry-After.
       */
      429: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description - `internal`: The service has a defect; include trace_id in a support request. */
      500: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /**
       * @description - OP-SYS-UNAVAILABLE, `object_store_unavailable`: The object store is unreachable. Retry after the time in Retry-After; repeat a create request with the same Idempotency-Key.
       *     - OP-SYS-UNAVAILABLE, `object_store_busy`: The object store is at its limit of concurrent requests. Retry after the time in Retry-After; repeat a create request with the same Idempotency-Key.
       *     - OP-SYS-UNAVAILABLE, `key_store_unavailable`: API keys cannot be checked. Retry after the time in Retry-After; repeat a create request with the same Idempotency-Key.
       */
      503: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
    };
  };
  getTaskVideo: {
    parameters: {
      query?: never;
      header?: {
        /** @description One range of bytes (RFC 9110), for example `bytes=0-1023`. Several ranges return the whole video. */
        Range?: string;
        /** @description Entity tag; if it is not that of the video, `Range` is ignored */
        'If-Range'?: string;
        /** @description Entity tags; if one is that of the video, the response is 304 */
        'If-None-Match'?: string;
      };
      path: {
        task_id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Video */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Accept-Ranges': components['headers']['Accept-Ranges'];
          ETag: components['headers']['ETag'];
          [name: string]: unknown;
        };
        content: {
          'video/mp4': Blob;
          'video/quicktime': Blob;
        };
      };
      /** @description Requested range */
      206: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Accept-Ranges': components['headers']['Accept-Ranges'];
          'Content-Range': components['headers']['Content-Range'];
          ETag: components['headers']['ETag'];
          [name: string]: unknown;
        };
        content: {
          'video/mp4': Blob;
          'video/quicktime': Blob;
        };
      };
      /** @description Not modified */
      304: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          ETag: components['headers']['ETag'];
          [name: string]: unknown;
        };
        content?: never;
      };
      /**
       * @description - OP-TASK-REQUEST-INVALID, `not_an_upload`: The task is not of an uploaded video, so no video is stored for it.
       *     - OP-TASK-REQUEST-INVALID, `unknown_field`: This operation takes no query parameters.
       */
      400: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /**
       * @description - OP-AUTH-REQUIRED, `api_key_missing`: The request has no header Authorization. Send a valid key in the header "Authorization: Bearer <API_KEY>".
       *     - OP-AUTH-REQUIRED, `api_key_invalid`: The API key is malformed, unknown, expired or revoked. Send a valid key in the header "Authorization: Bearer <API_KEY>".
       */
      401: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'Cache-Control': components['headers']['Cache-Control'];
          'WWW-Authenticate': components['headers']['WWW-Authenticate'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description - `scope_missing`: This operation requires an API key with the scope read. */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /**
       * @description - `task_not_found`: There is no such task.
       *     - `video_not_found`: The video of the task is no longer stored.
       *     - `not_found`: There is no such resource.
       */
      404: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description - `range_not_satisfiable`: The range begins behind the end of the content, which has 146515 bytes. */
      416: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          'Content-Range': components['headers']['Content-Range'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /**
       * @description - OP-QUOTA-RATE-LIMITED, `too_many_in_flight`: Too many requests of this kind run at once for the subject; details.limit names the limit. Retry after the time in Retry-After.
       *     - OP-QUOTA-RATE-LIMITED, `rate_exceeded`: The subject sends too many requests per second. Retry after the time in Retry-After.
       *     - OP-QUOTA-RATE-LIMITED, `too_many_invalid_keys`: The network of the client has sent too many invalid API keys. Retry after the time in Retry-After.
       */
      429: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description - `internal`: The service has a defect; include trace_id in a support request. */
      500: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /**
       * @description - OP-SYS-UNAVAILABLE, `object_store_unavailable`: The object store is unreachable. Retry after the time in Retry-After; repeat a create request with the same Idempotency-Key.
       *     - OP-SYS-UNAVAILABLE, `object_store_busy`: The object store is at its limit of concurrent requests. Retry after the time in Retry-After; repeat a create request with the same Idempotency-Key.
       *     - OP-SYS-UNAVAILABLE, `key_store_unavailable`: API keys cannot be checked. Retry after the time in Retry-After; repeat a create request with the same Idempotency-Key.
       */
      503: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
    };
  };
  getUsage: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Today's usage */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "video": {
           *         "limit": 5,
           *         "used": 2,
           *         "remaining": 3,
           *         "resets_at": "2026-03-16T00:00:00+08:00"
           *       },
           *       "image": {
           *         "limit": 100,
           *         "used": 37,
           *         "remaining": 63,
           *         "resets_at": "2026-03-16T00:00:00+08:00"
           *       }
           *     }
           */
          'application/json': components['schemas']['Usage'];
        };
      };
      /** @description - OP-TASK-REQUEST-INVALID, `unknown_field`: This operation takes no query parameters. */
      400: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /**
       * @description - OP-AUTH-REQUIRED, `api_key_missing`: The request has no header Authorization. Send a valid key in the header "Authorization: Bearer <API_KEY>".
       *     - OP-AUTH-REQUIRED, `api_key_invalid`: The API key is malformed, unknown, expired or revoked. Send a valid key in the header "Authorization: Bearer <API_KEY>".
       */
      401: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'Cache-Control': components['headers']['Cache-Control'];
          'WWW-Authenticate': components['headers']['WWW-Authenticate'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description - `scope_missing`: This operation requires an API key with the scope read. */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /**
       * @description - OP-QUOTA-RATE-LIMITED, `rate_exceeded`: The subject sends too many requests per second. Retry after the time in Retry-After.
       *     - OP-QUOTA-RATE-LIMITED, `too_many_invalid_keys`: The network of the client has sent too many invalid API keys. Retry after the time in Retry-After.
       */
      429: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description - `internal`: The service has a defect; include trace_id in a support request. */
      500: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description - OP-SYS-UNAVAILABLE, `key_store_unavailable`: API keys cannot be checked. Retry after the time in Retry-After; repeat a create request with the same Idempotency-Key. */
      503: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
    };
  };
  getUsageDays: {
    parameters: {
      query?: {
        /** @description First day, YYYY-MM-DD in UTC+8; default: 30 days ending with `to` */
        from?: string;
        /** @description Last day, inclusive; default: today */
        to?: string;
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Usage of each day, oldest first */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "items": [
           *         {
           *           "day": "2026-03-14",
           *           "video": 5,
           *           "image": 12
           *         },
           *         {
           *           "day": "2026-03-15",
           *           "video": 2,
           *           "image": 37
           *         }
           *       ]
           *     }
           */
          'application/json': components['schemas']['UsageDays'];
        };
      };
      /**
       * @description - OP-TASK-REQUEST-INVALID, `query_invalid`: from must not be later than to.
       *     - OP-TASK-REQUEST-INVALID, `unknown_field`: colour: This operation does not accept it.
       */
      400: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /**
       * @description - OP-AUTH-REQUIRED, `api_key_missing`: The request has no header Authorization. Send a valid key in the header "Authorization: Bearer <API_KEY>".
       *     - OP-AUTH-REQUIRED, `api_key_invalid`: The API key is malformed, unknown, expired or revoked. Send a valid key in the header "Authorization: Bearer <API_KEY>".
       */
      401: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'Cache-Control': components['headers']['Cache-Control'];
          'WWW-Authenticate': components['headers']['WWW-Authenticate'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description - `scope_missing`: This operation requires an API key with the scope read. */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /**
       * @description - OP-QUOTA-RATE-LIMITED, `rate_exceeded`: The subject sends too many requests per second. Retry after the time in Retry-After.
       *     - OP-QUOTA-RATE-LIMITED, `too_many_invalid_keys`: The network of the client has sent too many invalid API keys. Retry after the time in Retry-After.
       */
      429: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description - `internal`: The service has a defect; include trace_id in a support request. */
      500: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description - OP-SYS-UNAVAILABLE, `key_store_unavailable`: API keys cannot be checked. Retry after the time in Retry-After; repeat a create request with the same Idempotency-Key. */
      503: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
    };
  };
  createUploadTask: {
    parameters: {
      query?: {
        /** @description Name of your own for a camera or an order. The task list shows it and filters by it. It is part of the request: a repeat with another value is rejected. */
        client_ref?: string;
        /** @description `tracks`: an image of each track is stored and, for streams, live snapshots are answered. `off`: neither. It cannot be changed later. Without it, the setting of the subject applies (`/v1/vision/settings`). It is part of the request: a repeat with another value is rejected. */
        snapshots?: 'off' | 'tracks';
      };
      header: {
        /** @description A UUID that you generate for each new request. Repeating the same request with the same key returns the original result; a different request with the same key is rejected. */
        'Idempotency-Key': string;
      };
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        'multipart/form-data': components['schemas']['NewUploadTask'];
      };
    };
    responses: {
      /** @description Idempotent replay: current state of the original task */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Idempotency-Replayed': components['headers']['Idempotency-Replayed'];
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "task_id": "019cf0a3-5b1e-7c44-9a51-6f0d2b7e8c10",
           *       "request_id": "8f14e45f-ceea-467f-9d0a-2c1b6e0f7a31",
           *       "scene_code": "person_vehicle",
           *       "status": "running",
           *       "result_expires_at": "2026-06-13T08:30:00.000Z",
           *       "created_at": "2026-03-15T08:30:00.000Z",
           *       "updated_at": "2026-03-15T08:30:01.250Z"
           *     }
           */
          'application/json': components['schemas']['Task'];
        };
      };
      /** @description Task created. `status` is `refunded` if the inference backend rejected it; the unit was returned. */
      201: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "task_id": "019cf0a3-5b1e-7c44-9a51-6f0d2b7e8c10",
           *       "request_id": "8f14e45f-ceea-467f-9d0a-2c1b6e0f7a31",
           *       "scene_code": "person_vehicle",
           *       "status": "running",
           *       "result_expires_at": "2026-06-13T08:30:00.000Z",
           *       "created_at": "2026-03-15T08:30:00.000Z",
           *       "updated_at": "2026-03-15T08:30:01.250Z"
           *     }
           */
          'application/json': components['schemas']['Task'];
        };
      };
      /** @description Outcome of the submission unknown (`resolving`): poll the task; do not resend with a new key. */
      202: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "task_id": "019cf0a3-5b1e-7c44-9a51-6f0d2b7e8c10",
           *       "request_id": "8f14e45f-ceea-467f-9d0a-2c1b6e0f7a31",
           *       "scene_code": "person_vehicle",
           *       "status": "resolving",
           *       "result_expires_at": "2026-06-13T08:30:00.000Z",
           *       "created_at": "2026-03-15T08:30:00.000Z",
           *       "updated_at": "2026-03-15T08:30:01.250Z"
           *     }
           */
          'application/json': components['schemas']['Task'];
        };
      };
      /**
       * @description - OP-TASK-REQUEST-INVALID, `file_missing`: Send one video in the field "file".
       *     - OP-TASK-REQUEST-INVALID, `file_too_large`: The file is larger than 536870912 bytes.
       *     - OP-TASK-REQUEST-INVALID, `file_type_unsupported`: The file is no MP4 or MOV video.
       *     - OP-TASK-REQUEST-INVALID, `idempotency_key_missing`: Send an Idempotency-Key header with a UUID of your own.
       *     - OP-TASK-REQUEST-INVALID, `idempotency_key_invalid`: Send one Idempotency-Key in UUID form (8-4-4-4-12).
       *     - OP-TASK-REQUEST-INVALID, `idempotency_key_reused`: This Idempotency-Key was used for another request; send a new key for a new request.
       *     - OP-TASK-SCENE-UNAVAILABLE, `scene_unavailable`: This scene does not exist or is not enabled; GET /api/op/v1/scenes lists the scenes.
       *     - OP-TASK-REQUEST-INVALID, `unknown_field`: colour: This operation does not accept it.
       */
      400: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /**
       * @description - OP-AUTH-REQUIRED, `api_key_missing`: The request has no header Authorization. Send a valid key in the header "Authorization: Bearer <API_KEY>".
       *     - OP-AUTH-REQUIRED, `api_key_invalid`: The API key is malformed, unknown, expired or revoked. Send a valid key in the header "Authorization: Bearer <API_KEY>".
       */
      401: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'Cache-Control': components['headers']['Cache-Control'];
          'WWW-Authenticate': components['headers']['WWW-Authenticate'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description - `scope_missing`: This operation requires an API key with the scope create. */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description - `task_not_found`: The task of this Idempotency-Key was deleted. */
      404: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /**
       * @description - OP-QUOTA-RATE-LIMITED, `too_many_in_flight`: Too many requests of this kind run at once for the subject; details.limit names the limit. Retry after the time in Retry-After.
       *     - OP-QUOTA-RATE-LIMITED, `processor_time_exceeded`: Images and videos of the subject have used more processor time than their share. Retry after the time in Retry-After.
       *     - OP-QUOTA-DAILY-EXHAUSTED, `daily_quota_exhausted`: Today's quota does not cover this request.
       *     - OP-QUOTA-RATE-LIMITED, `active_tasks`: Too many video tasks of the subject have not ended. Retry after the time in Retry-After.
       *     - OP-QUOTA-RATE-LIMITED, `rate_exceeded`: The subject sends too many requests per second. Retry after the time in Retry-After.
       *     - OP-QUOTA-RATE-LIMITED, `too_many_invalid_keys`: The network of the client has sent too many invalid API keys. Retry after the time in Retry-After.
       */
      429: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description - `internal`: The service has a defect; include trace_id in a support request. */
      500: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /**
       * @description - OP-TASK-UPSTREAM-DOWN, `inference_unreachable`: The inference backend is unreachable or answers with an error. Nothing was charged.
       *     - OP-TASK-BREAKER-OPEN, `breaker_open`: New work is rejected because recent calls to the inference backend failed. Nothing was charged.
       *     - OP-TASK-BREAKER-OPEN, `maintenance`: The service is under maintenance and accepts no new work. Nothing was charged.
       *     - OP-SYS-UNAVAILABLE, `first_request_still_running`: A request with this Idempotency-Key is still in progress. Retry after the time in Retry-After; repeat a create request with the same Idempotency-Key.
       *     - OP-SYS-UNAVAILABLE, `key_store_unavailable`: API keys cannot be checked. Retry after the time in Retry-After; repeat a create request with the same Idempotency-Key.
       */
      503: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
    };
  };
  redeliverWebhook: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        delivery_id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description The delivery is due */
      202: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "delivery_id": "019cf0a3-7d11-7f00-8a11-4c0d2b7e8c13"
           *     }
           */
          'application/json': components['schemas']['AcceptedDelivery'];
        };
      };
      /** @description - OP-TASK-REQUEST-INVALID, `unknown_field`: This operation takes no query parameters. */
      400: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /**
       * @description - OP-AUTH-REQUIRED, `api_key_missing`: The request has no header Authorization. Send a valid key in the header "Authorization: Bearer <API_KEY>".
       *     - OP-AUTH-REQUIRED, `api_key_invalid`: The API key is malformed, unknown, expired or revoked. Send a valid key in the header "Authorization: Bearer <API_KEY>".
       */
      401: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'Cache-Control': components['headers']['Cache-Control'];
          'WWW-Authenticate': components['headers']['WWW-Authenticate'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description - `scope_missing`: This operation requires an API key with the scope notify. */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /**
       * @description - `delivery_not_found`: You have no such delivery, or its event is no longer retained.
       *     - `not_found`: There is no such resource.
       */
      404: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description - `endpoint_disabled`: The webhook endpoint is disabled. Send it with "enabled": true first. */
      409: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /**
       * @description - OP-QUOTA-RATE-LIMITED, `rate_exceeded`: The subject sends too many requests per second. Retry after the time in Retry-After.
       *     - OP-QUOTA-RATE-LIMITED, `too_many_invalid_keys`: The network of the client has sent too many invalid API keys. Retry after the time in Retry-After.
       */
      429: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description - `internal`: The service has a defect; include trace_id in a support request. */
      500: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description - OP-SYS-UNAVAILABLE, `key_store_unavailable`: API keys cannot be checked. Retry after the time in Retry-After; repeat a create request with the same Idempotency-Key. */
      503: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
    };
  };
  listWebhookEndpoints: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Your endpoints */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "items": [
           *         {
           *           "endpoint_id": "alarm-centre",
           *           "url": "https://hooks.example.org/vision",
           *           "event_types": [
           *             "task.failed",
           *             "task.succeeded"
           *           ],
           *           "enabled": true,
           *           "created_at": "2026-03-15T08:00:00.000Z",
           *           "updated_at": "2026-03-15T08:00:00.000Z"
           *         }
           *       ]
           *     }
           */
          'application/json': components['schemas']['WebhookEndpointList'];
        };
      };
      /** @description - OP-TASK-REQUEST-INVALID, `unknown_field`: This operation takes no query parameters. */
      400: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /**
       * @description - OP-AUTH-REQUIRED, `api_key_missing`: The request has no header Authorization. Send a valid key in the header "Authorization: Bearer <API_KEY>".
       *     - OP-AUTH-REQUIRED, `api_key_invalid`: The API key is malformed, unknown, expired or revoked. Send a valid key in the header "Authorization: Bearer <API_KEY>".
       */
      401: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'Cache-Control': components['headers']['Cache-Control'];
          'WWW-Authenticate': components['headers']['WWW-Authenticate'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description - `scope_missing`: This operation requires an API key with the scope notify. */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /**
       * @description - OP-QUOTA-RATE-LIMITED, `rate_exceeded`: The subject sends too many requests per second. Retry after the time in Retry-After.
       *     - OP-QUOTA-RATE-LIMITED, `too_many_invalid_keys`: The network of the client has sent too many invalid API keys. Retry after the time in Retry-After.
       */
      429: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description - `internal`: The service has a defect; include trace_id in a support request. */
      500: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description - OP-SYS-UNAVAILABLE, `key_store_unavailable`: API keys cannot be checked. Retry after the time in Retry-After; repeat a create request with the same Idempotency-Key. */
      503: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
    };
  };
  getWebhookEndpoint: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        endpoint_id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description The endpoint */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "endpoint_id": "alarm-centre",
           *       "url": "https://hooks.example.org/vision",
           *       "event_types": [
           *         "task.failed",
           *         "task.succeeded"
           *       ],
           *       "enabled": true,
           *       "created_at": "2026-03-15T08:00:00.000Z",
           *       "updated_at": "2026-03-15T08:00:00.000Z"
           *     }
           */
          'application/json': components['schemas']['WebhookEndpoint'];
        };
      };
      /** @description - OP-TASK-REQUEST-INVALID, `unknown_field`: This operation takes no query parameters. */
      400: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /**
       * @description - OP-AUTH-REQUIRED, `api_key_missing`: The request has no header Authorization. Send a valid key in the header "Authorization: Bearer <API_KEY>".
       *     - OP-AUTH-REQUIRED, `api_key_invalid`: The API key is malformed, unknown, expired or revoked. Send a valid key in the header "Authorization: Bearer <API_KEY>".
       */
      401: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'Cache-Control': components['headers']['Cache-Control'];
          'WWW-Authenticate': components['headers']['WWW-Authenticate'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description - `scope_missing`: This operation requires an API key with the scope notify. */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /**
       * @description - `endpoint_not_found`: You have no webhook endpoint with this endpoint_id.
       *     - `not_found`: There is no such resource.
       */
      404: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /**
       * @description - OP-QUOTA-RATE-LIMITED, `rate_exceeded`: The subject sends too many requests per second. Retry after the time in Retry-After.
       *     - OP-QUOTA-RATE-LIMITED, `too_many_invalid_keys`: The network of the client has sent too many invalid API keys. Retry after the time in Retry-After.
       */
      429: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description - `internal`: The service has a defect; include trace_id in a support request. */
      500: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description - OP-SYS-UNAVAILABLE, `key_store_unavailable`: API keys cannot be checked. Retry after the time in Retry-After; repeat a create request with the same Idempotency-Key. */
      503: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
    };
  };
  putWebhookEndpoint: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        endpoint_id: string;
      };
      cookie?: never;
    };
    requestBody: {
      content: {
        /**
         * @example {
         *       "url": "https://hooks.example.org/vision",
         *       "event_types": [
         *         "task.failed",
         *         "task.succeeded"
         *       ],
         *       "enabled": true
         *     }
         */
        'application/json': components['schemas']['WebhookEndpointRequest'];
      };
    };
    responses: {
      /** @description The endpoint was replaced */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "endpoint_id": "alarm-centre",
           *       "url": "https://hooks.example.org/vision",
           *       "event_types": [
           *         "task.failed",
           *         "task.succeeded"
           *       ],
           *       "enabled": true,
           *       "created_at": "2026-03-15T08:00:00.000Z",
           *       "updated_at": "2026-03-15T08:00:00.000Z"
           *     }
           */
          'application/json': components['schemas']['WebhookEndpoint'];
        };
      };
      /** @description The endpoint was created */
      201: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "endpoint_id": "alarm-centre",
           *       "url": "https://hooks.example.org/vision",
           *       "event_types": [
           *         "task.failed",
           *         "task.succeeded"
           *       ],
           *       "enabled": true,
           *       "created_at": "2026-03-15T08:00:00.000Z",
           *       "updated_at": "2026-03-15T08:00:00.000Z",
           *       "secret": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo="
           *     }
           */
          'application/json': components['schemas']['NewWebhookEndpoint'];
        };
      };
      /**
       * @description - OP-TASK-REQUEST-INVALID, `body_invalid`: event_types: Send at least 1 entry.
       *     - OP-TASK-REQUEST-INVALID, `unknown_field`: colour: This operation does not accept it.
       *     - OP-TASK-REQUEST-INVALID, `webhook_url_invalid`: The url must begin with https://.
       *     - OP-TASK-REQUEST-INVALID, `secret_invalid`: secret: send whsec_ and 24 to 64 random bytes in base64.
       */
      400: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /**
       * @description - OP-AUTH-REQUIRED, `api_key_missing`: The request has no header Authorization. Send a valid key in the header "Authorization: Bearer <API_KEY>".
       *     - OP-AUTH-REQUIRED, `api_key_invalid`: The API key is malformed, unknown, expired or revoked. Send a valid key in the header "Authorization: Bearer <API_KEY>".
       */
      401: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'Cache-Control': components['headers']['Cache-Control'];
          'WWW-Authenticate': components['headers']['WWW-Authenticate'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description - `scope_missing`: This operation requires an API key with the scope notify. */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description - `not_found`: There is no such resource. */
      404: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description - `limit_reached`: You have 20 webhook endpoints; delete one first. */
      409: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /**
       * @description - OP-QUOTA-RATE-LIMITED, `rate_exceeded`: The subject sends too many requests per second. Retry after the time in Retry-After.
       *     - OP-QUOTA-RATE-LIMITED, `too_many_invalid_keys`: The network of the client has sent too many invalid API keys. Retry after the time in Retry-After.
       */
      429: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description - `internal`: The service has a defect; include trace_id in a support request. */
      500: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /**
       * @description - OP-SYS-UNAVAILABLE, `webhooks_not_configured`: The service has no keys for webhook and MQTT endpoints. Retry after the time in Retry-After; repeat a create request with the same Idempotency-Key.
       *     - OP-SYS-UNAVAILABLE, `key_store_unavailable`: API keys cannot be checked. Retry after the time in Retry-After; repeat a create request with the same Idempotency-Key.
       */
      503: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
    };
  };
  deleteWebhookEndpoint: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        endpoint_id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description There is no such endpoint any more */
      204: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          [name: string]: unknown;
        };
        content?: never;
      };
      /** @description - OP-TASK-REQUEST-INVALID, `unknown_field`: This operation takes no query parameters. */
      400: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /**
       * @description - OP-AUTH-REQUIRED, `api_key_missing`: The request has no header Authorization. Send a valid key in the header "Authorization: Bearer <API_KEY>".
       *     - OP-AUTH-REQUIRED, `api_key_invalid`: The API key is malformed, unknown, expired or revoked. Send a valid key in the header "Authorization: Bearer <API_KEY>".
       */
      401: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'Cache-Control': components['headers']['Cache-Control'];
          'WWW-Authenticate': components['headers']['WWW-Authenticate'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description - `scope_missing`: This operation requires an API key with the scope notify. */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description - `not_found`: There is no such resource. */
      404: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /**
       * @description - OP-QUOTA-RATE-LIMITED, `rate_exceeded`: The subject sends too many requests per second. Retry after the time in Retry-After.
       *     - OP-QUOTA-RATE-LIMITED, `too_many_invalid_keys`: The network of the client has sent too many invalid API keys. Retry after the time in Retry-After.
       */
      429: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description - `internal`: The service has a defect; include trace_id in a support request. */
      500: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description - OP-SYS-UNAVAILABLE, `key_store_unavailable`: API keys cannot be checked. Retry after the time in Retry-After; repeat a create request with the same Idempotency-Key. */
      503: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
    };
  };
  listWebhookDeliveries: {
    parameters: {
      query?: {
        /** @description `next_cursor` of an earlier page */
        cursor?: string;
        /** @description Deliveries on a page */
        limit?: number;
        /** @description State of the deliveries to return; all states by default */
        state?: 'pending' | 'delivered' | 'failed' | 'held';
      };
      header?: never;
      path: {
        endpoint_id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Page of deliveries */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "items": [
           *         {
           *           "delivery_id": "019cf0a3-7d11-7f00-8a11-4c0d2b7e8c13",
           *           "event_id": "019cf0a3-60f2-7a10-8c44-1f0d2b7e8c10",
           *           "type": "webhook_endpoint.test",
           *           "state": "pending",
           *           "attempts": [
           *             {
           *               "at": "2026-03-15T08:30:01.400Z",
           *               "outcome": "http_status",
           *               "status": 503,
           *               "duration_ms": 84
           *             }
           *           ],
           *           "next_at": "2026-03-15T08:30:06.300Z",
           *           "created_at": "2026-03-15T08:30:01.350Z"
           *         }
           *       ],
           *       "next_cursor": ""
           *     }
           */
          'application/json': components['schemas']['WebhookDeliveryPage'];
        };
      };
      /**
       * @description - OP-TASK-REQUEST-INVALID, `query_invalid`: state: send one of pending, delivered, failed, held.
       *     - OP-TASK-REQUEST-INVALID, `unknown_field`: Only cursor, limit, state are accepted.
       *     - OP-TASK-REQUEST-INVALID, `cursor_invalid`: cursor: send the next_cursor of an earlier page of this list.
       */
      400: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /**
       * @description - OP-AUTH-REQUIRED, `api_key_missing`: The request has no header Authorization. Send a valid key in the header "Authorization: Bearer <API_KEY>".
       *     - OP-AUTH-REQUIRED, `api_key_invalid`: The API key is malformed, unknown, expired or revoked. Send a valid key in the header "Authorization: Bearer <API_KEY>".
       */
      401: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'Cache-Control': components['headers']['Cache-Control'];
          'WWW-Authenticate': components['headers']['WWW-Authenticate'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description - `scope_missing`: This operation requires an API key with the scope notify. */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /**
       * @description - `endpoint_not_found`: You have no webhook endpoint with this endpoint_id.
       *     - `not_found`: There is no such resource.
       */
      404: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /**
       * @description - OP-QUOTA-RATE-LIMITED, `rate_exceeded`: The subject sends too many requests per second. Retry after the time in Retry-After.
       *     - OP-QUOTA-RATE-LIMITED, `too_many_invalid_keys`: The network of the client has sent too many invalid API keys. Retry after the time in Retry-After.
       */
      429: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description - `internal`: The service has a defect; include trace_id in a support request. */
      500: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description - OP-SYS-UNAVAILABLE, `key_store_unavailable`: API keys cannot be checked. Retry after the time in Retry-After; repeat a create request with the same Idempotency-Key. */
      503: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
    };
  };
  recoverWebhookEndpoint: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        endpoint_id: string;
      };
      cookie?: never;
    };
    requestBody: {
      content: {
        /**
         * @example {
         *       "since_ms": 1773561600000
         *     }
         */
        'application/json': components['schemas']['RecoveryRequest'];
      };
    };
    responses: {
      /** @description Events are being sent */
      202: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "deliveries": 17
           *     }
           */
          'application/json': components['schemas']['Recovery'];
        };
      };
      /**
       * @description - OP-TASK-REQUEST-INVALID, `body_invalid`: since_ms: Send a number of at least 0.
       *     - OP-TASK-REQUEST-INVALID, `unknown_field`: This operation takes no query parameters.
       */
      400: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /**
       * @description - OP-AUTH-REQUIRED, `api_key_missing`: The request has no header Authorization. Send a valid key in the header "Authorization: Bearer <API_KEY>".
       *     - OP-AUTH-REQUIRED, `api_key_invalid`: The API key is malformed, unknown, expired or revoked. Send a valid key in the header "Authorization: Bearer <API_KEY>".
       */
      401: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'Cache-Control': components['headers']['Cache-Control'];
          'WWW-Authenticate': components['headers']['WWW-Authenticate'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description - `scope_missing`: This operation requires an API key with the scope notify. */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /**
       * @description - `endpoint_not_found`: You have no webhook endpoint with this endpoint_id.
       *     - `not_found`: There is no such resource.
       */
      404: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description - `endpoint_disabled`: The webhook endpoint is disabled. Send it with "enabled": true first. */
      409: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /**
       * @description - OP-QUOTA-RATE-LIMITED, `rate_exceeded`: The subject sends too many requests per second. Retry after the time in Retry-After.
       *     - OP-QUOTA-RATE-LIMITED, `too_many_invalid_keys`: The network of the client has sent too many invalid API keys. Retry after the time in Retry-After.
       */
      429: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description - `internal`: The service has a defect; include trace_id in a support request. */
      500: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description - OP-SYS-UNAVAILABLE, `key_store_unavailable`: API keys cannot be checked. Retry after the time in Retry-After; repeat a create request with the same Idempotency-Key. */
      503: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
    };
  };
  rotateWebhookSecret: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        endpoint_id: string;
      };
      cookie?: never;
    };
    requestBody: {
      content: {
        /**
         * @example {
         *       "overlap_s": 3600
         *     }
         */
        'application/json': components['schemas']['SecretRotationRequest'];
      };
    };
    responses: {
      /** @description The secret was replaced */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "secret": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=",
           *       "old_secret_expires_at": "2026-03-15T09:30:00.000Z"
           *     }
           */
          'application/json': components['schemas']['SecretRotation'];
        };
      };
      /**
       * @description - OP-TASK-REQUEST-INVALID, `body_invalid`: overlap_s: Send a number of at most 86400.
       *     - OP-TASK-REQUEST-INVALID, `unknown_field`: This operation takes no query parameters.
       */
      400: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /**
       * @description - OP-AUTH-REQUIRED, `api_key_missing`: The request has no header Authorization. Send a valid key in the header "Authorization: Bearer <API_KEY>".
       *     - OP-AUTH-REQUIRED, `api_key_invalid`: The API key is malformed, unknown, expired or revoked. Send a valid key in the header "Authorization: Bearer <API_KEY>".
       */
      401: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'Cache-Control': components['headers']['Cache-Control'];
          'WWW-Authenticate': components['headers']['WWW-Authenticate'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description - `scope_missing`: This operation requires an API key with the scope notify. */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /**
       * @description - `endpoint_not_found`: You have no webhook endpoint with this endpoint_id.
       *     - `not_found`: There is no such resource.
       */
      404: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /**
       * @description - OP-QUOTA-RATE-LIMITED, `rate_exceeded`: The subject sends too many requests per second. Retry after the time in Retry-After.
       *     - OP-QUOTA-RATE-LIMITED, `too_many_invalid_keys`: The network of the client has sent too many invalid API keys. Retry after the time in Retry-After.
       */
      429: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description - `internal`: The service has a defect; include trace_id in a support request. */
      500: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description - OP-SYS-UNAVAILABLE, `key_store_unavailable`: API keys cannot be checked. Retry after the time in Retry-After; repeat a create request with the same Idempotency-Key. */
      503: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
    };
  };
  testWebhookEndpoint: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        endpoint_id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description The test is being sent */
      202: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "delivery_id": "019cf0a3-7d11-7f00-8a11-4c0d2b7e8c13"
           *     }
           */
          'application/json': components['schemas']['AcceptedDelivery'];
        };
      };
      /** @description - OP-TASK-REQUEST-INVALID, `unknown_field`: This operation takes no query parameters. */
      400: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /**
       * @description - OP-AUTH-REQUIRED, `api_key_missing`: The request has no header Authorization. Send a valid key in the header "Authorization: Bearer <API_KEY>".
       *     - OP-AUTH-REQUIRED, `api_key_invalid`: The API key is malformed, unknown, expired or revoked. Send a valid key in the header "Authorization: Bearer <API_KEY>".
       */
      401: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'Cache-Control': components['headers']['Cache-Control'];
          'WWW-Authenticate': components['headers']['WWW-Authenticate'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description - `scope_missing`: This operation requires an API key with the scope notify. */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /**
       * @description - `endpoint_not_found`: You have no webhook endpoint with this endpoint_id.
       *     - `not_found`: There is no such resource.
       */
      404: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description - `endpoint_disabled`: The webhook endpoint is disabled. Send it with "enabled": true first. */
      409: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /**
       * @description - OP-QUOTA-RATE-LIMITED, `webhook_test_rate`: Too many test events were sent within a minute. Retry after the time in Retry-After.
       *     - OP-QUOTA-RATE-LIMITED, `rate_exceeded`: The subject sends too many requests per second. Retry after the time in Retry-After.
       *     - OP-QUOTA-RATE-LIMITED, `too_many_invalid_keys`: The network of the client has sent too many invalid API keys. Retry after the time in Retry-After.
       */
      429: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description - `internal`: The service has a defect; include trace_id in a support request. */
      500: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description - OP-SYS-UNAVAILABLE, `key_store_unavailable`: API keys cannot be checked. Retry after the time in Retry-After; repeat a create request with the same Idempotency-Key. */
      503: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
    };
  };
  taskEvent: {
    parameters: {
      query?: never;
      header: {
        'webhook-id': string;
        'webhook-timestamp': string;
        'webhook-signature': string;
      };
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        /**
         * @example {
         *       "event_id": "019cf0a3-60f2-7a10-8c44-1f0d2b7e8c10",
         *       "type": "task.running",
         *       "timestamp": "2026-03-15T08:30:01.250Z",
         *       "sequence": 1773563401262,
         *       "data": {
         *         "task": {
         *           "task_id": "019cf0a3-5b1e-7c44-9a51-6f0d2b7e8c10",
         *           "request_id": "8f14e45f-ceea-467f-9d0a-2c1b6e0f7a31",
         *           "scene_code": "person_vehicle",
         *           "status": "running",
         *           "result_expires_at": "2026-06-13T08:30:00.000Z",
         *           "created_at": "2026-03-15T08:30:00.000Z",
         *           "updated_at": "2026-03-15T08:30:01.250Z"
         *         }
         *       }
         *     }
         */
        'application/json': components['schemas']['TaskEvent'];
      };
    };
    responses: {
      /** @description Any 2xx status: the event is delivered */
      '2XX': {
        headers: {
          [name: string]: unknown;
        };
        content?: never;
      };
    };
  };
  alarmEvent: {
    parameters: {
      query?: never;
      header: {
        'webhook-id': string;
        'webhook-timestamp': string;
        'webhook-signature': string;
      };
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        /**
         * @example {
         *       "event_id": "019cf0a3-6a08-7c44-9b1f-2d0d2b7e8c13",
         *       "type": "alarm.closed",
         *       "timestamp": "2026-03-15T09:00:21.400Z",
         *       "sequence": 1773565221431,
         *       "data": {
         *         "alarm": {
         *           "alarm_id": "5f0c8a1e-3f6d-8b42-9c17-2d8e4a7b9c03",
         *           "version": 3,
         *           "rule_id": "yard-at-night",
         *           "rule_version": 1773500000,
         *           "task_id": "019cf0a3-5b1e-7c44-9a51-6f0d2b7e8c10",
         *           "client_ref": "yard-north",
         *           "scene_code": "person_vehicle",
         *           "state": "closed",
         *           "kind": "object_present",
         *           "opened_ms": 1773565206200,
         *           "closed_ms": 1773565221400,
         *           "suppressed": 0,
         *           "evidence": {
         *             "frame_id": "019cf0a3-5b1e-7c44-9a51-6f0d2b7e8c10-31",
         *             "frame_time_ms": 1773565206200,
         *             "objects": [
         *               {
         *                 "label": "person",
         *                 "score": 0.91,
         *                 "bbox": {
         *                   "format": "cxcywh_normalized",
         *                   "cx": 0.42,
         *                   "cy": 0.55,
         *                   "width": 0.08,
         *                   "height": 0.31
         *                 },
         *                 "track_id": "a1-7"
         *               }
         *             ],
         *             "count": 1,
         *             "held_ms": 2000,
         *             "region": [
         *               [
         *                 0.1,
         *                 0.4
         *               ],
         *               [
         *                 0.9,
         *                 0.4
         *               ],
         *               [
         *                 0.9,
         *                 1
         *               ],
         *               [
         *                 0.1,
         *                 1
         *               ]
         *             ]
         *           },
         *           "labels": [
         *             "person"
         *           ],
         *           "count_max": 2,
         *           "track_ids": [
         *             "a1-7",
         *             "a1-8"
         *           ],
         *           "closed_by": "cleared",
         *           "snapshot": {
         *             "state": "available",
         *             "path": "/v1/vision/tasks/019cf0a3-5b1e-7c44-9a51-6f0d2b7e8c10/tracks/a1-7/snapshot",
         *             "frame_time_ms": 1773565207400
         *           },
         *           "created_at": "2026-03-15T09:00:06.431Z",
         *           "updated_at": "2026-03-15T09:00:21.431Z"
         *         }
         *       }
         *     }
         */
        'application/json': components['schemas']['AlarmEvent'];
      };
    };
    responses: {
      /** @description Any 2xx status: the event is delivered */
      '2XX': {
        headers: {
          [name: string]: unknown;
        };
        content?: never;
      };
    };
  };
  webhookEndpointEvent: {
    parameters: {
      query?: never;
      header: {
        'webhook-id': string;
        'webhook-timestamp': string;
        'webhook-signature': string;
      };
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        /**
         * @example {
         *       "event_id": "019cf0a3-7d10-7b21-9c55-2e0d2b7e8c11",
         *       "type": "webhook_endpoint.test",
         *       "timestamp": "2026-03-15T08:31:00.000Z",
         *       "sequence": 1773563460012,
         *       "data": {
         *         "endpoint_id": "alarm-centre"
         *       }
         *     }
         */
        'application/json': components['schemas']['WebhookEndpointEvent'];
      };
    };
    responses: {
      /** @description Any 2xx status: the event is delivered */
      '2XX': {
        headers: {
          [name: string]: unknown;
        };
        content?: never;
      };
    };
  };
  eventsMissed: {
    parameters: {
      query?: never;
      header: {
        'webhook-id': string;
        'webhook-timestamp': string;
        'webhook-signature': string;
      };
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        /**
         * @example {
         *       "event_id": "019cf0a3-8e20-7c32-8d66-3f0d2b7e8c12",
         *       "type": "events.missed",
         *       "timestamp": "2026-03-15T09:00:00.000Z",
         *       "sequence": 1773565200011,
         *       "data": {
         *         "endpoint_id": "alarm-centre",
         *         "first_sequence": 1773563401263,
         *         "last_sequence": 1773565199874,
         *         "cursor": "AQAAAAAAAAAAKQAAAAAAAAApJzt6dWZpS0VtDR3dMFiJ0A"
         *       }
         *     }
         */
        'application/json': components['schemas']['MissedEvents'];
      };
    };
    responses: {
      /** @description Any 2xx status: the event is delivered */
      '2XX': {
        headers: {
          [name: string]: unknown;
        };
        content?: never;
      };
    };
  };
}
