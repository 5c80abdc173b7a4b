"""Models of the public API, written by `make python-client UPDATE=1` from docs/openapi/public.json."""

from __future__ import annotations

from typing import Annotated, Any, Dict, Literal
from pydantic import (
    AwareDatetime,
    BaseModel,
    ConfigDict,
    Field,
    confloat,
    conint,
    constr,
)
from uuid import UUID
from datetime import date


class Snapshot(BaseModel):
    """
    Image of the object; absent in alarms of an earlier release
    """

    state: Literal['available', 'pending', 'none', 'off'] | str
    """
    `available`: an image is stored, and expires as images of tracks do. `pending`: none is stored yet; the event `alarm.updated` follows when one is stored within a day of the last event of the alarm. `none`: no object raised the alarm. `off`: the task has no snapshots
    """
    path: str | None = None
    """
    Path of the image, to be read with your API key; present for `available` and `pending`
    """
    frame_time_ms: int | None = None
    """
    `frame_time_ms` of the frame that it is cut from, once it is available
    """


class Review(BaseModel):
    """
    Your verdict; absent in events
    """

    verdict: Literal['none', 'confirmed', 'false_alarm'] | str
    """
    `confirmed`: rightly raised. `false_alarm`: wrongly raised. `none`: not reviewed
    """
    note: str | None = None
    """
    Note of the review; absent without one
    """
    reviewed_at: AwareDatetime | None = None
    """
    Time of the review; absent before
    """


class BoundingBox(BaseModel):
    """
    Box as centre and size, relative to the image size
    """

    format: Literal['cxcywh_normalized'] | str
    cx: confloat(ge=0.0, le=1.0)
    """
    Horizontal centre of the box, 0 to 1 of the image width
    """
    cy: confloat(ge=0.0, le=1.0)
    """
    Vertical centre of the box, 0 to 1 of the image height
    """
    width: confloat(ge=0.0, le=1.0)
    """
    Width of the box, 0 to 1 of the image width
    """
    height: confloat(ge=0.0, le=1.0)
    """
    Height of the box, 0 to 1 of the image height
    """


class WebhookEndpointEventData(BaseModel):
    """
    Data of events about a webhook or MQTT endpoint
    """

    endpoint_id: str
    """
    `endpoint_id` of the webhook or MQTT endpoint
    """
    reason: (
        Literal['failing', 'gone', 'requested', 'key_revoked', 'no_key'] | str | None
    ) = None
    """
    Reason of `webhook_endpoint.disabled` and `mqtt_endpoint.disabled`: `failing` for three days, `gone` (the receiver answered 410), `key_revoked` (the API key that changed the endpoint last was revoked), or `no_key` (you had no valid API key)
    """


class MissedEventsData(BaseModel):
    """
    Events that are missing here
    """

    endpoint_id: str | None = None
    """
    Webhook endpoint that was not sent them; absent: they have expired, or were lost with the database of the service
    """
    first_sequence: conint(ge=1)
    """
    Number from which on events are missing
    """
    last_sequence: conint(ge=1)
    """
    Number of the last event that is missing
    """
    cursor: str | None = None
    """
    Send it to `GET /v1/vision/events` to read the events that an endpoint was not sent
    """


class Evidence(BaseModel):
    """
    `verification_disproved`: what the backend reports about the job
    """

    job_status: str | None
    """
    Status of the job; null if the backend does not have it
    """
    frames_published: float
    seen_before: bool
    """
    True if the backend reported the job earlier
    """


class ProblemDetails(BaseModel):
    reason: str
    """
    Machine-readable reason, snake_case. Reasons keep their meaning; new ones may be added.
    """
    field: str | None = None
    """
    Header, parameter or field that caused the error
    """
    scope: str | None = None
    """
    `scope_missing`: scope that the operation requires
    """
    scene_code: str | None = None
    """
    OP-TASK-SCENE-UNAVAILABLE: requested scene
    """
    status: str | None = None
    """
    Status of the task that prevents the request
    """
    limit: str | float | None = None
    """
    OP-QUOTA-DAILY-EXHAUSTED: units per day. OP-QUOTA-RATE-LIMITED: name or value of the limit.
    """
    allowed: float | None = None
    """
    OP-QUOTA-RATE-LIMITED: maximum number at once
    """
    active: float | None = None
    """
    OP-QUOTA-RATE-LIMITED: number of active tasks
    """
    used: float | None = None
    """
    OP-QUOTA-DAILY-EXHAUSTED: units used today
    """
    requested: float | None = None
    """
    OP-QUOTA-DAILY-EXHAUSTED: units required by this request
    """
    resets_at: AwareDatetime | None = None
    """
    OP-QUOTA-DAILY-EXHAUSTED: start of the next quota day
    """
    evidence: Evidence | None = None
    """
    `verification_disproved`: what the backend reports about the job
    """
    bytes: int | None = None
    """
    416: size of the content
    """
    allow: list[str] | None = None
    """
    405: methods that the path supports
    """


class QualityFigure(BaseModel):
    measure: (
        Literal[
            'precision', 'recall', 'false_alarms_per_hour', 'seconds_to_first_alarm'
        ]
        | str
    )
    """
    `precision`: share of reported objects that are correct. `recall`: share of real objects that are reported. `false_alarms_per_hour`: alarms in an hour of video without such an object. `seconds_to_first_alarm`: time from the appearance of an object to the first alarm.
    """
    label: constr(min_length=1)
    """
    Label that was measured
    """
    input: Literal['picture', 'video'] | str
    """
    Measured on images (`picture`) or on videos (`video`)
    """
    min_score: confloat(ge=0.0, le=1.0)
    """
    Score threshold that the figure applies to
    """
    value: confloat(ge=0.0)
    """
    Measured value: a share from 0 to 1, a number an hour, or seconds
    """


class Info(BaseModel):
    model_config = ConfigDict(
        extra='allow',
    )
    __annotations__ = {
        '__pydantic_extra__': Dict[str, Any],
    }
    title: str
    version: str


class OpenApiDocument(BaseModel):
    model_config = ConfigDict(
        extra='allow',
    )
    __annotations__ = {
        '__pydantic_extra__': Dict[str, Any],
    }
    openapi: str
    info: Info


class ObjectPresent(BaseModel):
    """
    Objects are present
    """

    model_config = ConfigDict(
        extra='forbid',
    )
    kind: Literal['object_present']
    labels: list[constr(min_length=1, max_length=100)] = Field(
        ..., max_length=32, min_length=1
    )
    """
    Labels of the objects. A label that the task does not detect matches no object
    """
    min_score: confloat(ge=0.0, le=1.0) | None = None
    """
    Score threshold, 0 to 1. When omitted, the task's threshold applies
    """
    region: list[tuple[confloat(ge=0.0, le=1.0), confloat(ge=0.0, le=1.0)]] | None = (
        Field(None, max_length=16, min_length=3)
    )
    """
    Polygon on the image: 3 to 16 corners `[x, y]`, each coordinate 0 to 1. Its edges do not cross or touch each other. Objects whose anchor lies outside do not count
    """
    anchor: Literal['bottom_center', 'center'] | str | None = None
    """
    Point of the box used as position of the object
    """
    min_count: conint(ge=1, le=1000) | None = 1
    """
    Objects that must be present at once
    """
    for_ms: conint(ge=0, le=3600000) | None = 0
    """
    Milliseconds that the objects must be present, without gaps
    """
    clear_ms: conint(ge=1000, le=3600000) | None = 5000
    """
    Milliseconds of absence after which the alarm closes, without gaps; at least two sampling periods of the task, in whole seconds, apply
    """


class ObjectAbsent(BaseModel):
    """
    No such object is present while the camera sends frames
    """

    model_config = ConfigDict(
        extra='forbid',
    )
    kind: Literal['object_absent']
    labels: list[constr(min_length=1, max_length=100)] = Field(
        ..., max_length=32, min_length=1
    )
    """
    Labels of the objects. A label that the task does not detect matches no object
    """
    min_score: confloat(ge=0.0, le=1.0) | None = None
    """
    Score threshold, 0 to 1. When omitted, the task's threshold applies
    """
    region: list[tuple[confloat(ge=0.0, le=1.0), confloat(ge=0.0, le=1.0)]] | None = (
        Field(None, max_length=16, min_length=3)
    )
    """
    Polygon on the image: 3 to 16 corners `[x, y]`, each coordinate 0 to 1. Its edges do not cross or touch each other. Objects whose anchor lies outside do not count
    """
    anchor: Literal['bottom_center', 'center'] | str | None = None
    """
    Point of the box used as position of the object
    """
    for_ms: conint(ge=10000, le=3600000)
    """
    Milliseconds of absence, without gaps
    """


class LineCrossed(BaseModel):
    """
    The anchor of one object crosses a line. It must be seen in two frames on each side, without a gap between them; frames in which the object is not found do not count
    """

    model_config = ConfigDict(
        extra='forbid',
    )
    kind: Literal['line_crossed']
    labels: list[constr(min_length=1, max_length=100)] = Field(
        ..., max_length=32, min_length=1
    )
    """
    Labels of the objects. A label that the task does not detect matches no object
    """
    min_score: confloat(ge=0.0, le=1.0) | None = None
    """
    Score threshold, 0 to 1. When omitted, the task's threshold applies
    """
    line: list[tuple[confloat(ge=0.0, le=1.0), confloat(ge=0.0, le=1.0)]]
    """
    Line on the image from the first to the second point `[x, y]`, each coordinate 0 to 1
    """
    direction: Literal['both', 'left_to_right', 'right_to_left'] | str | None = None
    """
    Direction of the crossing, as seen from the first point of the line towards the second
    """
    anchor: Literal['bottom_center', 'center'] | str | None = None
    """
    Point of the box used as position of the object
    """


class SourceDown(BaseModel):
    """
    A live stream delivers no frames. It never applies to uploaded videos
    """

    model_config = ConfigDict(
        extra='forbid',
    )
    kind: Literal['source_down']
    for_ms: conint(ge=5000, le=3600000) | None = 60000
    """
    Milliseconds without a frame; at least two sampling periods of the stream apply
    """


class TaskEnded(BaseModel):
    """
    The task ends
    """

    model_config = ConfigDict(
        extra='forbid',
    )
    kind: Literal['task_ended']
    statuses: (
        list[Literal['succeeded', 'stopped', 'failed', 'refunded'] | str] | None
    ) = Field(['failed'], max_length=4, min_length=1)
    """
    Final states that raise the alarm
    """


class ScheduleWindow(BaseModel):
    model_config = ConfigDict(
        extra='forbid',
    )
    days: list[Literal['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] | str] = Field(
        ..., max_length=7, min_length=1
    )
    """
    Days on which the window begins
    """
    from_: constr(pattern=r'^([01]\d|2[0-3]):[0-5]\d$') = Field(..., alias='from')
    """
    Begin, `HH:MM` local time, inclusive
    """
    to: constr(pattern=r'^(([01]\d|2[0-3]):[0-5]\d|24:00)$')
    """
    End, `HH:MM` local time or `24:00`, exclusive. An earlier time than `from` is on the next day
    """


class RuleScope(BaseModel):
    """
    Tasks that a rule applies to: those that one of the lists names. Absent: all tasks
    """

    model_config = ConfigDict(
        extra='forbid',
    )
    client_refs: list[constr(pattern=r'^[A-Za-z0-9._:-]{1,64}$')] | None = Field(
        None, max_length=100, min_length=1
    )
    """
    Tasks with one of these `client_ref`, including later ones
    """
    task_ids: list[UUID] | None = Field(None, max_length=100, min_length=1)
    """
    These tasks
    """


class AlarmVerdicts(BaseModel):
    """
    Alarms of the last 7 days by their verdict
    """

    none: int
    """
    Alarms without a review
    """
    confirmed: int
    """
    Alarms that were rightly raised
    """
    false_alarm: int
    """
    Alarms that were wrongly raised
    """


class NewAlarmReview(BaseModel):
    model_config = ConfigDict(
        extra='forbid',
    )
    verdict: Literal['none', 'confirmed', 'false_alarm'] | str
    """
    `confirmed`, `false_alarm`, or `none` to withdraw a verdict
    """
    note: constr(max_length=500) | None = None
    """
    Note of your own, at most 500 characters
    """


class DetectedObject(BaseModel):
    """
    Object detected in an image
    """

    label: str
    """
    Label of the object, one of the labels of the scene
    """
    score: confloat(ge=0.0, le=1.0)
    """
    Confidence, 0 to 1; for a calibrated detector, the probability that the box is correct
    """
    bbox: BoundingBox


class FailedImage(BaseModel):
    seq: conint(ge=0)
    """
    Zero-based index of the image in the upload
    """
    status: Literal['failed']
    error_code: (
        Literal[
            'OP-TASK-REQUEST-INVALID', 'OP-TASK-UPSTREAM-DOWN', 'OP-SYS-UNAVAILABLE'
        ]
        | str
    )
    """
    Reason of the failure; failed images are not charged
    """


class NewImageDetection(BaseModel):
    model_config = ConfigDict(
        extra='forbid',
    )
    files: list[bytes] = Field(..., max_length=10, min_length=1)
    """
    Image files: JPEG, PNG or WEBP, at most 8 MiB each, each with a file name
    """
    scene_code: str | None = None
    """
    Code of an enabled scene; default: `fire_smoke`
    """


class Key(BaseModel):
    """
    The API key of the request
    """

    model_config = ConfigDict(
        extra='forbid',
    )
    key_id: str
    """
    Names the key in the audit log and to the operator; it is no secret
    """
    scopes: list[Literal['read', 'create', 'notify'] | str]
    """
    What the key may do; a key without limits has all of them
    """


class Link(BaseModel):
    """
    Link that reads one path without an API key
    """

    url: str
    """
    Path of the link; append it to the address of the API
    """
    expires_at: AwareDatetime
    """
    Time at which the link expires
    """


class NewLink(BaseModel):
    model_config = ConfigDict(
        extra='forbid',
    )
    path: constr(max_length=2048)
    """
    Path to share, without a query: `/v1/vision/tasks/{task_id}/video`, `/v1/vision/tasks/{task_id}/live-snapshot` or `/v1/vision/tasks/{task_id}/tracks/{track_id}/snapshot`
    """
    expires_in_s: conint(ge=60, le=86400)
    """
    Seconds that the link is valid for
    """


class MqttEndpoint(BaseModel):
    """
    An MQTT broker that events are published to
    """

    endpoint_id: str
    """
    Your name of the endpoint
    """
    url: str
    """
    Address of the broker
    """
    login: Literal['none', 'password', 'certificate'] | str
    """
    Kind of login
    """
    username: str | None = None
    """
    User name of a login with a password
    """
    topic_prefix: str
    """
    Beginning of all topics
    """
    event_types: (
        list[
            Literal[
                'task.running',
                'task.resolving',
                'task.succeeded',
                'task.stopped',
                'task.failed',
                'task.refunded',
                'alarm.opened',
                'alarm.updated',
                'alarm.closed',
                'webhook_endpoint.disabled',
                'webhook_endpoint.test',
                'mqtt_endpoint.disabled',
                'events.missed',
            ]
            | str
        ]
        | None
    ) = Field(None, max_length=13, min_length=1)
    """
    Types of events to send; all types, those to come included, when absent
    """
    enabled: bool
    """
    Whether events are published
    """
    disabled_reason: (
        Literal['failing', 'requested', 'key_revoked', 'no_key'] | str | None
    ) = None
    """
    Why it is disabled: `failing` (the broker has acknowledged nothing for 72 h, in at least 10 connections), `requested` (by you), `key_revoked` (the API key that changed the endpoint last was revoked), `no_key` (you had no valid API key)
    """
    connected_since: AwareDatetime | None = None
    """
    Since when there is a connection; absent without one
    """
    failing_since: AwareDatetime | None = None
    """
    Time of the first failure since the broker worked last
    """
    last_failure: (
        Literal[
            'unreachable',
            'timeout',
            'tls_invalid',
            'refused',
            'closed',
            'protocol_error',
        ]
        | str
        | None
    ) = None
    """
    How the last connection failed or ended: `unreachable` (no address that may be connected to, or no answer to a connection), `timeout` (no login within 10 s, or no acknowledgement within 30 s), `tls_invalid`, `refused` (the broker refused the login), `closed` (by the broker), `protocol_error`
    """
    sequence: conint(ge=0)
    """
    The broker has acknowledged all events up to this `sequence` that it is sent
    """
    created_at: AwareDatetime
    updated_at: AwareDatetime


class MqttPasswordLogin(BaseModel):
    model_config = ConfigDict(
        extra='forbid',
    )
    username: constr(min_length=1, max_length=256)
    """
    User name
    """
    password: constr(max_length=1024) | None = None
    """
    Password. It is never returned
    """


class MqttCertificateLogin(BaseModel):
    model_config = ConfigDict(
        extra='forbid',
    )
    certificate: constr(max_length=16384)
    """
    Client certificate, with those between it and its authority, PEM
    """
    private_key: constr(max_length=16384)
    """
    Its private key, without a passphrase. It is never returned, PEM
    """


class Settings(BaseModel):
    """
    Settings of the subject of the API key
    """

    model_config = ConfigDict(
        extra='forbid',
    )
    snapshots: Literal['off', 'tracks'] | str
    """
    `tracks`: new video tasks store an image of each track and, for streams, answer live snapshots. `off`: neither
    """


class Snapshot2(BaseModel):
    """
    Newest frame as an image; absent if the operator has turned it off
    """

    media_type: Literal['image/jpeg'] | str
    data: constr(max_length=16000000)
    """
    Image in base64, its longest side 1280 pixels at most
    """


class Problem1(BaseModel):
    """
    Absent if a frame was read; `codec`, `image`, `fps`, `snapshot` and `objects` are absent otherwise
    """

    reason: (
        Literal[
            'auth_failed',
            'codec_unsupported',
            'no_video_track',
            'no_frame',
            'not_supported',
        ]
        | str
    )
    """
    Why the stream gave no frame. `no_frame`: none came in time, or the peer failed after the handshake. `not_supported`: the stream answered, but the inference backend does not read streams for probes.
    """
    advice: str
    """
    Suggested action
    """


class ImageSize(BaseModel):
    """
    Size in pixels, after the orientation of the video is applied
    """

    width: conint(ge=1)
    height: conint(ge=1)


class NewStreamProbeRequest(BaseModel):
    model_config = ConfigDict(
        extra='forbid',
    )
    stream_url: str
    """
    Address of the stream: http, https, rtsp or rtmp, optionally with user name and password. The host is a public IP address or a fully qualified name (`camera.example.org`, not `camera`). The port must be one that streams commonly use.
    """
    scene_code: constr(min_length=1, max_length=200) | None = None
    """
    Code of an enabled scene; the frame is then detected with it
    """


class TaskHistoryEntry(BaseModel):
    """
    Video task or image call
    """

    task_id: UUID
    request_id: str
    """
    Idempotency-Key of the create request, as it was sent
    """
    scene_code: str
    status: (
        Literal[
            'submitting',
            'resolving',
            'running',
            'stopping',
            'stopped',
            'succeeded',
            'failed',
            'refunded',
        ]
        | str
    )
    """
    `submitting`: charged, being submitted to the inference backend. `resolving`: the outcome of the submission is unknown and is being determined. `running`: producing frames. `stopping`: a stop was requested. `stopped`, `succeeded`, `failed`: final. `refunded`: never started; the unit was returned.
    """
    result_expires_at: AwareDatetime
    """
    Time at which the results are deleted
    """
    created_at: AwareDatetime
    updated_at: AwareDatetime
    kind: Literal['video', 'image'] | str
    client_ref: constr(pattern=r'^[A-Za-z0-9._:-]{1,64}$') | None = None
    """
    `client_ref` of the create request; absent without one
    """


class Task1(BaseModel):
    """
    Video task
    """

    task_id: UUID
    request_id: str
    """
    Idempotency-Key of the create request, as it was sent
    """
    scene_code: str
    status: (
        Literal[
            'submitting',
            'resolving',
            'running',
            'stopping',
            'stopped',
            'succeeded',
            'failed',
            'refunded',
        ]
        | str
    )
    """
    `submitting`: charged, being submitted to the inference backend. `resolving`: the outcome of the submission is unknown and is being determined. `running`: producing frames. `stopping`: a stop was requested. `stopped`, `succeeded`, `failed`: final. `refunded`: never started; the unit was returned.
    """
    result_expires_at: AwareDatetime
    """
    Time at which the results are deleted
    """
    created_at: AwareDatetime
    updated_at: AwareDatetime


class NewStreamTask(BaseModel):
    model_config = ConfigDict(
        extra='forbid',
    )
    scene_code: constr(min_length=1, max_length=200)
    """
    Code of an enabled scene
    """
    stream_url: str
    """
    Address of the stream: http, https, rtsp or rtmp, optionally with user name and password. The host is a public IP address or a fully qualified name (`camera.example.org`, not `camera`). The port must be one that streams commonly use.
    """


class TaskDeletion(BaseModel):
    """
    Deleted task or image call
    """

    task_id: UUID
    deleted_at: AwareDatetime
    """
    Time of the deletion
    """


class Dropped(BaseModel):
    """
    Frames that were read and not stored. `fresher`: a newer frame was there. `no_number`, `not_held`, `unsent`: a part of the service was unavailable
    """

    fresher: conint(ge=0)
    no_number: conint(ge=0)
    not_held: conint(ge=0)
    unsent: conint(ge=0)


class Frames(BaseModel):
    stored: conint(ge=0)
    """
    Number of stored frames
    """
    dropped: Dropped | None = None
    """
    Frames that were read and not stored. `fresher`: a newer frame was there. `no_number`, `not_held`, `unsent`: a part of the service was unavailable
    """


class Coverage(BaseModel):
    """
    Share of the last 24 hours of the task that has frames
    """

    from_ms: int
    """
    Start of the time, as `frame_time_ms`
    """
    to_ms: int
    """
    End of the time, exclusive
    """
    covered_ms: conint(ge=0)
    """
    Time with frames, in milliseconds
    """
    gaps: conint(ge=0)
    """
    Number of gaps: stretches without frames
    """


class Ended(BaseModel):
    """
    End of the task; present only if it has ended
    """

    status: (
        Literal[
            'submitting',
            'resolving',
            'running',
            'stopping',
            'stopped',
            'succeeded',
            'failed',
            'refunded',
        ]
        | str
    )
    """
    `submitting`: charged, being submitted to the inference backend. `resolving`: the outcome of the submission is unknown and is being determined. `running`: producing frames. `stopping`: a stop was requested. `stopped`, `succeeded`, `failed`: final. `refunded`: never started; the unit was returned.
    """
    reason: (
        Literal[
            'unreachable',
            'source_lost',
            'stream_ended',
            'auth_failed',
            'not_found',
            'codec_unsupported',
            'no_video_track',
            'unreadable',
            'format_changed',
            'video_too_long',
            'video_too_dense',
            'too_much_data',
            'decode_time_exceeded',
            'decoder_failed',
            'service_fault',
            'unknown',
        ]
        | str
        | None
    ) = None
    """
    Reason of a `failed` or `refunded` task
    """
    advice: str | None = None
    """
    Suggested action of the caller, as an English sentence
    """


class Item(BaseModel):
    at_ms: int
    """
    Unix time of the change, in milliseconds
    """
    state: (
        Literal[
            'connecting',
            'streaming',
            'stalled',
            'blocked',
            'reconnecting',
            'waiting',
            'processing',
        ]
        | str
    )
    reason: (
        Literal[
            'unreachable',
            'source_lost',
            'stream_ended',
            'auth_failed',
            'not_found',
            'codec_unsupported',
            'no_video_track',
            'unreadable',
            'format_changed',
            'video_too_long',
            'video_too_dense',
            'too_much_data',
            'decode_time_exceeded',
            'decoder_failed',
            'service_fault',
            'unknown',
        ]
        | str
        | None
    ) = None
    """
    Why the last connection ended
    """


class TaskSource(BaseModel):
    """
    State of the source of a video task
    """

    kind: Literal['stream', 'upload'] | str
    """
    Kind of the source: live stream or uploaded video
    """
    state: (
        Literal[
            'connecting',
            'streaming',
            'stalled',
            'blocked',
            'reconnecting',
            'waiting',
            'processing',
            'unknown',
            'ended',
        ]
        | str
    )
    """
    `waiting`: no connection is attempted yet; or the stream has been away for over ten minutes and is connected to about once a minute (`give_up_after_s`). `connecting`: no frame has arrived yet. `streaming`: frames arrive. `stalled`: connected, no frame for 2 s. `blocked`: frames wait because the service is busy. `reconnecting`: the connection was lost. `processing`: frames of an uploaded video are read. `unknown`: the inference backend does not report it. `ended`: the task has ended
    """
    since_ms: int
    """
    Unix time since which the state holds, in milliseconds
    """
    away_since_ms: int | None = None
    """
    Unix time since which a live stream has given no frame, in milliseconds; left out while it gives some
    """
    gives_up_at_ms: int | None = None
    """
    Unix time at which the task fails if no frame arrives until then, in milliseconds (`give_up_after_s`)
    """
    last_frame_time_ms: int | None = None
    """
    `frame_time_ms` of the last stored frame; of an upload, compare it with `duration_ms`
    """
    duration_ms: int | None = None
    """
    Playing time of an uploaded video, in milliseconds
    """
    sample_fps: float | None = None
    """
    Frame rate at which the source is analysed, in frames per second
    """
    measured_fps: float | None = None
    """
    Rate at which frames arrived over three seconds, at most `sample_fps`, in frames per second
    """
    is_behind: bool | None = None
    """
    Whether the service is too slow for the frame rate
    """
    codec: str | None = None
    """
    Video codec, such as `h264` or `hevc`
    """
    image: ImageSize | None = None
    frames: Frames
    reconnects: conint(ge=0) | None = None
    """
    Number of lost connections
    """
    coverage: Coverage
    """
    Share of the last 24 hours of the task that has frames
    """
    ended: Ended | None = None
    """
    End of the task; present only if it has ended
    """
    items: list[Item]
    """
    Earlier states, newest first; at most 1,000 per task, short ones are left out first
    """
    next_cursor: str
    """
    Cursor of the next page; empty on the last page
    """


class Label4(BaseModel):
    label: str
    tracks_begun: conint(ge=0)
    """
    Number of tracks whose first frame is in the bucket
    """
    objects_max: conint(ge=0)
    """
    Largest number of objects in one frame
    """
    object_frames: conint(ge=0)
    """
    Number of frames with an object
    """


class Item1(BaseModel):
    from_ms: int
    """
    Start of the bucket, a multiple of `bucket_ms`
    """
    covered_ms: conint(ge=0)
    """
    Time of the bucket with frames, in milliseconds
    """
    frames: conint(ge=0)
    """
    Number of frames
    """
    labels: list[Label4]


class Gap(BaseModel):
    from_ms: int
    """
    Start of the gap
    """
    to_ms: int
    """
    End of the gap, exclusive
    """
    reason: (
        Literal[
            'source_away',
            'source_silent',
            'overload',
            'worker_lost',
            'not_started',
            'unknown',
        ]
        | str
    )
    """
    `source_away`: the camera could not be reached. `source_silent`: the source was connected and had no frame. `overload`: the service was too busy. `worker_lost`: a worker failed and another one took over. `not_started`: analysis had not begun. `unknown`: the inference backend does not report it
    """


class CoverageModel(BaseModel):
    """
    Share of a period that has frames, within the time of the task
    """

    from_ms: int
    """
    Start of the time, as `frame_time_ms`
    """
    to_ms: int
    """
    End of the time, exclusive
    """
    covered_ms: conint(ge=0)
    """
    Time with frames, in milliseconds
    """
    gaps: conint(ge=0)
    """
    Number of gaps: stretches without frames
    """


class Best(BaseModel):
    """
    The object with the highest score; among equal scores the largest, then the first
    """

    frame_id: str
    frame_time_ms: int
    score: float
    bbox: BoundingBox


class FirstBbox(BaseModel):
    """
    Box in the first frame
    """

    format: Literal['cxcywh_normalized'] | str
    cx: confloat(ge=0.0, le=1.0)
    """
    Horizontal centre of the box, 0 to 1 of the image width
    """
    cy: confloat(ge=0.0, le=1.0)
    """
    Vertical centre of the box, 0 to 1 of the image height
    """
    width: confloat(ge=0.0, le=1.0)
    """
    Width of the box, 0 to 1 of the image width
    """
    height: confloat(ge=0.0, le=1.0)
    """
    Height of the box, 0 to 1 of the image height
    """


class LastBbox(BaseModel):
    """
    Box in the last frame
    """

    format: Literal['cxcywh_normalized'] | str
    cx: confloat(ge=0.0, le=1.0)
    """
    Horizontal centre of the box, 0 to 1 of the image width
    """
    cy: confloat(ge=0.0, le=1.0)
    """
    Vertical centre of the box, 0 to 1 of the image height
    """
    width: confloat(ge=0.0, le=1.0)
    """
    Width of the box, 0 to 1 of the image width
    """
    height: confloat(ge=0.0, le=1.0)
    """
    Height of the box, 0 to 1 of the image height
    """


class Snapshot3(BaseModel):
    """
    Image of the object, at `/v1/vision/tasks/{task_id}/tracks/{track_id}/snapshot`
    """

    state: Literal['available', 'pending', 'none'] | str
    """
    `pending`: an image can still be stored, as of the newest frame. `none`: there is no image, see `reason`
    """
    reason: (
        Literal[
            'snapshots_off',
            'too_short',
            'below_score',
            'not_taken',
            'expired',
            'not_supported',
        ]
        | str
        | None
    ) = None
    """
    `snapshots_off`: the task has no snapshots. `too_short`: fewer than 3 frames. `below_score`: every score is below the threshold of the task. `not_taken`: too many tracks at once, no frame was decoded in time, or the backend takes none. `expired`: the image is no longer retained. `not_supported`: an earlier release created the task
    """
    frame_id: str | None = None
    """
    Frame that the image is cut from
    """
    frame_time_ms: int | None = None
    """
    `frame_time_ms` of that frame
    """
    width: int | None = None
    """
    Width of the image in pixels, 640 at most
    """
    height: int | None = None
    """
    Height of the image in pixels, 640 at most
    """
    expires_at: AwareDatetime | None = None
    """
    Time at which the image is deleted
    """


class Track(BaseModel):
    """
    One object of a video task, from its first to its last frame
    """

    track_id: str
    """
    The `track_id` of the objects of this track
    """
    label: str
    """
    Label of the object with the best score
    """
    state: Literal['active', 'ended'] | str
    """
    `ended`: no object for 3 s of frame time, a newer attempt began, or the task has ended. As of the newest frame: while a camera is unavailable, its last tracks stay `active`
    """
    ended_by: Literal['left', 'gap', 'attempt', 'task_end'] | str | None = None
    """
    `left`: frames followed without the object. `gap`: no frame followed for 3 s. `attempt`: another worker continued the task with new tracks. `task_end`: the task ended. Absent while active
    """
    first_time_ms: int
    """
    `frame_time_ms` of the first frame with the object
    """
    last_time_ms: int
    """
    `frame_time_ms` of the last frame with the object
    """
    frames: int
    """
    Frames with the object
    """
    best: Best
    """
    The object with the highest score; among equal scores the largest, then the first
    """
    first_bbox: FirstBbox
    """
    Box in the first frame
    """
    last_bbox: LastBbox
    """
    Box in the last frame
    """
    mean_score: float
    """
    Mean score over all frames, 0 to 1, 4 decimals
    """
    snapshot: Snapshot3
    """
    Image of the object, at `/v1/vision/tasks/{task_id}/tracks/{track_id}/snapshot`
    """


class DailyUsage(BaseModel):
    """
    Usage of one of the day's quotas
    """

    limit: int
    """
    Units per day
    """
    used: int
    """
    Units used today, including units reserved for work in progress
    """
    remaining: int
    resets_at: AwareDatetime
    """
    Start of the next quota day, 00:00 UTC+8
    """


class UsageDay(BaseModel):
    """
    Usage of one day
    """

    day: date
    """
    Quota day, YYYY-MM-DD in UTC+8
    """
    video: int
    """
    Video tasks charged, including work in progress
    """
    image: int
    """
    Images charged, including work in progress
    """


class NewUploadTask(BaseModel):
    model_config = ConfigDict(
        extra='forbid',
    )
    scene_code: str
    """
    Code of an enabled scene
    """
    file: bytes
    """
    Video file: MP4 or MOV content, at most 512 MiB, with a file name
    """


class AcceptedDelivery(BaseModel):
    delivery_id: UUID
    """
    Identifier of the delivery, in the list of deliveries of the endpoint
    """


class WebhookEndpoint(BaseModel):
    """
    Address that events are sent to
    """

    endpoint_id: str
    """
    Your name of the endpoint
    """
    url: str
    """
    Address that webhooks are sent to
    """
    event_types: (
        list[
            Literal[
                'task.running',
                'task.resolving',
                'task.succeeded',
                'task.stopped',
                'task.failed',
                'task.refunded',
                'alarm.opened',
                'alarm.updated',
                'alarm.closed',
                'webhook_endpoint.disabled',
                'webhook_endpoint.test',
                'mqtt_endpoint.disabled',
                'events.missed',
            ]
            | str
        ]
        | None
    ) = Field(None, max_length=13, min_length=1)
    """
    Types of events to send; all types, those to come included, when absent
    """
    enabled: bool
    """
    Whether webhooks are sent
    """
    disabled_reason: (
        Literal['failing', 'gone', 'requested', 'key_revoked', 'no_key'] | str | None
    ) = None
    """
    Why it is disabled: `failing` (no webhook was delivered for 72 h in at least 10 attempts), `gone` (the receiver answered 410), `requested` (by you), `key_revoked` (the API key that changed the endpoint last was revoked), `no_key` (you had no valid API key)
    """
    failing_since: AwareDatetime | None = None
    """
    Time of the first failed attempt since the last success
    """
    created_at: AwareDatetime
    updated_at: AwareDatetime


class NewWebhookEndpoint(BaseModel):
    """
    A webhook endpoint with the secret that was made for it
    """

    endpoint_id: str
    """
    Your name of the endpoint
    """
    url: str
    """
    Address that webhooks are sent to
    """
    event_types: (
        list[
            Literal[
                'task.running',
                'task.resolving',
                'task.succeeded',
                'task.stopped',
                'task.failed',
                'task.refunded',
                'alarm.opened',
                'alarm.updated',
                'alarm.closed',
                'webhook_endpoint.disabled',
                'webhook_endpoint.test',
                'mqtt_endpoint.disabled',
                'events.missed',
            ]
            | str
        ]
        | None
    ) = Field(None, max_length=13, min_length=1)
    """
    Types of events to send; all types, those to come included, when absent
    """
    enabled: bool
    """
    Whether webhooks are sent
    """
    disabled_reason: (
        Literal['failing', 'gone', 'requested', 'key_revoked', 'no_key'] | str | None
    ) = None
    """
    Why it is disabled: `failing` (no webhook was delivered for 72 h in at least 10 attempts), `gone` (the receiver answered 410), `requested` (by you), `key_revoked` (the API key that changed the endpoint last was revoked), `no_key` (you had no valid API key)
    """
    failing_since: AwareDatetime | None = None
    """
    Time of the first failed attempt since the last success
    """
    created_at: AwareDatetime
    updated_at: AwareDatetime
    secret: str | None = None
    """
    Secret of the signatures (`whsec_…`). It is in this response only: the service cannot show it again. Absent when you chose it
    """


class WebhookEndpointRequest(BaseModel):
    model_config = ConfigDict(
        extra='forbid',
    )
    url: str
    """
    Address to send webhooks to: `https`, port 443, without user name and password. Names are resolved for each webhook; addresses that are not public are refused, unless the operator allows them
    """
    event_types: (
        list[
            Literal[
                'task.running',
                'task.resolving',
                'task.succeeded',
                'task.stopped',
                'task.failed',
                'task.refunded',
                'alarm.opened',
                'alarm.updated',
                'alarm.closed',
                'webhook_endpoint.disabled',
                'webhook_endpoint.test',
                'mqtt_endpoint.disabled',
                'events.missed',
            ]
            | str
        ]
        | None
    ) = Field(None, max_length=13, min_length=1)
    """
    Types of events to send; all types, those to come included, when absent
    """
    secret: constr(max_length=200) | None = None
    """
    Secret of your choice: `whsec_` and 24 to 64 random bytes in base64
    """
    enabled: bool | None = True
    """
    Whether webhooks are sent. An endpoint that is enabled begins with the next event, and with what is held
    """


class WebhookAttempt(BaseModel):
    at: AwareDatetime
    outcome: (
        Literal['delivered', 'http_status', 'timeout', 'unreachable', 'tls_invalid']
        | str
    )
    """
    `delivered`: status 2xx. `http_status`: another status. `timeout`: no answer in time. `unreachable`: no connection, no valid answer, or an address that is not allowed. `tls_invalid`: the TLS handshake failed
    """
    status: int | None = None
    """
    HTTP status; absent without an answer
    """
    duration_ms: conint(ge=0)
    """
    Duration of the attempt in milliseconds
    """


class Recovery(BaseModel):
    """
    Events to send again
    """

    deliveries: conint(ge=0)
    """
    Number of deliveries that are due because of the request
    """
    continue_from_ms: int | None = None
    """
    Present when more is to be sent than one request takes: repeat the request with it once these are delivered
    """


class RecoveryRequest(BaseModel):
    model_config = ConfigDict(
        extra='forbid',
    )
    since_ms: conint(ge=0, le=253402300799999)
    """
    Time of the earliest event to send again, in milliseconds since 1970
    """


class SecretRotation(BaseModel):
    """
    The new secret of a webhook endpoint
    """

    secret: str | None = None
    """
    The new secret, in this response only; absent when you chose it
    """
    old_secret_expires_at: AwareDatetime | None = None
    """
    Time until which webhooks carry a signature of the old secret too
    """


class SecretRotationRequest(BaseModel):
    model_config = ConfigDict(
        extra='forbid',
    )
    overlap_s: conint(ge=0, le=86400) | None = 86400
    """
    Seconds during which webhooks carry a signature of the old secret too
    """
    secret: constr(max_length=200) | None = None
    """
    Secret of your choice: `whsec_` and 24 to 64 random bytes in base64
    """


class Task(BaseModel):
    """
    The task as it was when the event happened
    """

    task_id: UUID
    request_id: str
    """
    Idempotency-Key of the create request, as it was sent
    """
    scene_code: str
    status: (
        Literal[
            'submitting',
            'resolving',
            'running',
            'stopping',
            'stopped',
            'succeeded',
            'failed',
            'refunded',
        ]
        | str
    )
    """
    `submitting`: charged, being submitted to the inference backend. `resolving`: the outcome of the submission is unknown and is being determined. `running`: producing frames. `stopping`: a stop was requested. `stopped`, `succeeded`, `failed`: final. `refunded`: never started; the unit was returned.
    """
    result_expires_at: AwareDatetime
    """
    Time at which the results are deleted
    """
    created_at: AwareDatetime
    updated_at: AwareDatetime


class TaskEventData(BaseModel):
    """
    Data of events about a video task
    """

    task: Task
    """
    The task as it was when the event happened
    """
    client_ref: constr(pattern=r'^[A-Za-z0-9._:-]{1,64}$') | None = None
    """
    `client_ref` of the create request; absent without one
    """
    reason: (
        Literal[
            'unreachable',
            'source_lost',
            'stream_ended',
            'auth_failed',
            'not_found',
            'codec_unsupported',
            'no_video_track',
            'unreadable',
            'format_changed',
            'video_too_long',
            'video_too_dense',
            'too_much_data',
            'decode_time_exceeded',
            'decoder_failed',
            'service_fault',
            'unknown',
        ]
        | str
        | None
    ) = None
    """
    Reason of a `failed` or `refunded` task
    """


class TrackedObject(BaseModel):
    """
    Object detected in a video frame
    """

    label: str
    """
    Label of the object, one of the labels of the scene
    """
    score: confloat(ge=0.0, le=1.0)
    """
    Confidence, 0 to 1; for a calibrated detector, the probability that the box is correct
    """
    bbox: BoundingBox
    track_id: str
    """
    Identifier of the object across the frames of the task
    """


class WebhookEndpointEvent(BaseModel):
    """
    A webhook or MQTT endpoint was disabled, or a webhook tested
    """

    event_id: UUID
    """
    Identifier of the event; the same whenever and however the event is delivered
    """
    timestamp: AwareDatetime
    """
    Time at which the event happened
    """
    sequence: conint(ge=1)
    """
    Number of the event in your log, in ascending order
    """
    type: (
        Literal[
            'webhook_endpoint.disabled',
            'webhook_endpoint.test',
            'mqtt_endpoint.disabled',
        ]
        | str
    )
    """
    Type of the event. Later releases add types: ignore those you do not know
    """
    data: WebhookEndpointEventData


class MissedEvents(BaseModel):
    """
    Events that are missing at this point; pages contain it for any filter of `types`
    """

    event_id: UUID
    """
    Identifier of the event; the same whenever and however the event is delivered
    """
    timestamp: AwareDatetime
    """
    Time at which the event happened
    """
    sequence: conint(ge=1)
    """
    Number of the event in your log, in ascending order
    """
    type: Literal['events.missed'] | str
    """
    Type of the event. Later releases add types: ignore those you do not know
    """
    data: MissedEventsData


class Problem(BaseModel):
    """
    Error response (RFC 9457). `code` is absent on 403, 404, 405, 416, 500 and conflicts of the admin API.
    """

    type: str
    """
    Problem type: `urn:vision:problem:<details.reason>`
    """
    title: str
    """
    Short summary; the same for all problems of one code or status
    """
    status: int
    """
    HTTP status code
    """
    detail: str
    """
    Explanation for people, with what to do; the wording may change
    """
    instance: str
    """
    Identifier of the request: `urn:request:<X-Request-Id>`
    """
    code: (
        Literal[
            'OP-AUTH-REQUIRED',
            'OP-TASK-REQUEST-INVALID',
            'OP-TASK-SCENE-UNAVAILABLE',
            'OP-TASK-NOT-STOPPABLE',
            'OP-TASK-UPSTREAM-DOWN',
            'OP-TASK-BREAKER-OPEN',
            'OP-QUOTA-DAILY-EXHAUSTED',
            'OP-QUOTA-RATE-LIMITED',
            'OP-SYS-UNAVAILABLE',
        ]
        | str
        | None
    ) = None
    """
    Machine-readable error code
    """
    details: ProblemDetails
    trace_id: str
    """
    Identifier of the trace, as in the header X-Trace-Id; include it in support requests
    """
    retryable: bool
    """
    True if the unchanged request may succeed later
    """


class Quality(BaseModel):
    """
    Measured quality; absent if the operator provides none
    """

    method: constr(min_length=1)
    """
    Detection method for images and video
    """
    measured_on: constr(min_length=1)
    """
    Data that the figures were measured on, or a statement that none were measured
    """
    figures: list[QualityFigure]
    """
    Measured figures; may be empty
    """
    limits: list[constr(min_length=1)]
    """
    Known limits: objects that are missed or mistaken, one sentence each
    """


class Scene(BaseModel):
    """
    Set of objects that the service detects
    """

    scene_code: constr(pattern=r'^[a-z][a-z0-9_]{0,63}$')
    name: constr(min_length=1)
    description: constr(min_length=1)
    enabled: bool
    """
    True if the scene is accepted as `scene_code`
    """
    labels: list[constr(min_length=1)] = Field(..., min_length=1)
    """
    Labels that detections of this scene can carry
    """
    lower_bound: confloat(ge=0.0, le=1.0)
    """
    Lowest stored score. Detections with a lower score are not stored.
    """
    default_min_score: confloat(ge=0.0, le=1.0)
    """
    Default score threshold of a task, fixed when the task is created
    """
    quality: Quality | None = None
    """
    Measured quality; absent if the operator provides none
    """


class RuleSchedule(BaseModel):
    """
    Times at which the rule applies. It does not restrict uploaded videos, whose frames have no time of day
    """

    model_config = ConfigDict(
        extra='forbid',
    )
    time_zone: constr(max_length=64)
    """
    IANA time zone, such as `Europe/Berlin`; daylight saving time is taken into account
    """
    windows: list[ScheduleWindow] = Field(..., max_length=20, min_length=1)


class AlarmRule(BaseModel):
    """
    Rule that raises alarms
    """

    rule_id: constr(pattern=r'^[a-z0-9][a-z0-9_-]{0,63}$')
    """
    Your own name of the rule
    """
    version: int
    """
    Version of what is judged; it grows with every change but one of `name`
    """
    name: str
    enabled: bool | None = True
    """
    Whether the rule raises alarms
    """
    scope: RuleScope | None = None
    when: ObjectPresent | ObjectAbsent | LineCrossed | SourceDown | TaskEnded = Field(
        ..., discriminator='kind'
    )
    schedule: RuleSchedule | None = None
    min_interval_ms: conint(ge=0, le=86400000) | None = 60000
    """
    Least time between the openings of two alarms, in milliseconds. A condition that still holds when it has passed raises its alarm then; others count as `suppressed`. Crossings raise 60 alarms a minute of a task at most, other conditions on objects 300, by the times of its frames and over all rules; those beyond count as `suppressed` too
    """
    created_at: AwareDatetime
    updated_at: AwareDatetime


class AlarmRuleWithVerdicts(BaseModel):
    """
    Rule that raises alarms, and how often it was right
    """

    rule_id: constr(pattern=r'^[a-z0-9][a-z0-9_-]{0,63}$')
    """
    Your own name of the rule
    """
    version: int
    """
    Version of what is judged; it grows with every change but one of `name`
    """
    name: str
    enabled: bool | None = True
    """
    Whether the rule raises alarms
    """
    scope: RuleScope | None = None
    when: ObjectPresent | ObjectAbsent | LineCrossed | SourceDown | TaskEnded = Field(
        ..., discriminator='kind'
    )
    schedule: RuleSchedule | None = None
    min_interval_ms: conint(ge=0, le=86400000) | None = 60000
    """
    Least time between the openings of two alarms, in milliseconds. A condition that still holds when it has passed raises its alarm then; others count as `suppressed`. Crossings raise 60 alarms a minute of a task at most, other conditions on objects 300, by the times of its frames and over all rules; those beyond count as `suppressed` too
    """
    created_at: AwareDatetime
    updated_at: AwareDatetime
    verdicts: AlarmVerdicts


class NewAlarmRule(BaseModel):
    model_config = ConfigDict(
        extra='forbid',
    )
    name: constr(min_length=1, max_length=100)
    """
    Name to show, at most 100 characters
    """
    enabled: bool | None = True
    """
    Whether the rule raises alarms
    """
    scope: RuleScope | None = None
    when: ObjectPresent | ObjectAbsent | LineCrossed | SourceDown | TaskEnded = Field(
        ..., discriminator='kind'
    )
    schedule: RuleSchedule | None = None
    min_interval_ms: conint(ge=0, le=86400000) | None = 60000
    """
    Least time between the openings of two alarms, in milliseconds. A condition that still holds when it has passed raises its alarm then; others count as `suppressed`. Crossings raise 60 alarms a minute of a task at most, other conditions on objects 300, by the times of its frames and over all rules; those beyond count as `suppressed` too
    """


class SucceededImage(BaseModel):
    seq: conint(ge=0)
    """
    Zero-based index of the image in the upload
    """
    status: Literal['succeeded']
    objects: list[DetectedObject]
    """
    Detected objects, highest score first
    """


class MqttEndpointList(BaseModel):
    items: list[MqttEndpoint]


class MqttEndpointRequest(BaseModel):
    model_config = ConfigDict(
        extra='forbid',
    )
    url: str
    """
    Address of the broker: `mqtts`, port 8883, without user name, password and path. Names are resolved for each connection; addresses that are not public are refused, unless the operator allows them
    """
    login: MqttPasswordLogin | MqttCertificateLogin | None = None
    """
    How to log in: with a user name and a password, or with a client certificate. Absent: the previous login, while `url` stays the same; null: none
    """
    server_ca: constr(max_length=16384) | None = None
    """
    Certificate authorities of the broker, instead of the public ones, PEM
    """
    topic_prefix: (
        constr(pattern=r'^[A-Za-z0-9._:-]{1,64}(?:\/[A-Za-z0-9._:-]{1,64}){0,7}$')
        | None
    ) = 'vision'
    """
    Beginning of all topics: up to eight parts of letters, digits and `._:-`, separated by `/`
    """
    event_types: (
        list[
            Literal[
                'task.running',
                'task.resolving',
                'task.succeeded',
                'task.stopped',
                'task.failed',
                'task.refunded',
                'alarm.opened',
                'alarm.updated',
                'alarm.closed',
                'webhook_endpoint.disabled',
                'webhook_endpoint.test',
                'mqtt_endpoint.disabled',
                'events.missed',
            ]
            | str
        ]
        | None
    ) = Field(None, max_length=13, min_length=1)
    """
    Types of events to send; all types, those to come included, when absent
    """
    enabled: bool | None = True
    """
    Whether events are published. An endpoint that is enabled begins with the next event
    """


class StreamProbe(BaseModel):
    """
    Format, one frame and objects of a live stream
    """

    codec: str | None = None
    """
    Codec of the video as ffmpeg names it, such as `h264`
    """
    image: ImageSize | None = None
    fps: float | None = None
    """
    Frames per second, measured over about a second, 60 at most; absent if fewer than two frames came
    """
    snapshot: Snapshot2 | None = None
    """
    Newest frame as an image; absent if the operator has turned it off
    """
    objects: list[DetectedObject] | None = None
    """
    Objects of the frame, highest score first; with `scene_code`. Their threshold is that of a new task.
    """
    capacity: Literal['available', 'none'] | str | None = None
    """
    Whether another stream could start now; absent if the inference backend does not tell
    """
    problem: Problem1 | None = None
    """
    Absent if a frame was read; `codec`, `image`, `fps`, `snapshot` and `objects` are absent otherwise
    """


class TaskPage(BaseModel):
    items: list[TaskHistoryEntry]
    next_cursor: str
    """
    Cursor of the next page; empty on the last page
    """


class ResultFrame(BaseModel):
    """
    Result frame of a video task
    """

    frame_id: str
    """
    Identifier of the frame: `<task_id>-<frame number>`
    """
    frame_time_ms: int
    """
    Time of the frame in milliseconds: offset in the video (PTS) for files, Unix time for live streams
    """
    image: ImageSize
    objects: list[TrackedObject]
    """
    Objects at or above the effective score threshold, highest score first
    """
    objects_total: int | None = None
    """
    Number of objects before score filtering; present only if `min_score` was sent
    """


class Timeline(BaseModel):
    """
    Objects of a video task over time, and where it has no frames
    """

    bucket_ms: int
    """
    Length of a bucket, in milliseconds
    """
    min_score: float
    """
    Score from which objects and tracks count
    """
    as_of_ms: int | None
    """
    `frame_time_ms` of the newest frame that the answer counts; null without a frame
    """
    coverage: CoverageModel
    items: list[Item1]
    """
    Buckets in order; those without coverage and objects are left out
    """
    gaps: list[Gap]
    """
    Time without frames, in order: the 1,000 longest gaps. A gap with several reasons is several entries that follow each other
    """


class TrackPage(BaseModel):
    items: list[Track]
    next_cursor: str
    """
    Cursor of the next page; empty on the last page
    """
    resume_cursor: str
    """
    With `order=changed`: returns each track that changes after this page, with its latest state. With `order=oldest`: returns tracks that begin later. Empty with `order=newest` and when no track can follow
    """
    as_of_ms: int | None
    """
    `frame_time_ms` of the newest frame that the answer counts; null without a frame
    """


class Usage(BaseModel):
    video: DailyUsage
    image: DailyUsage


class UsageDays(BaseModel):
    items: list[UsageDay]


class WebhookEndpointList(BaseModel):
    items: list[WebhookEndpoint]


class WebhookDelivery(BaseModel):
    """
    One event for one webhook endpoint
    """

    delivery_id: UUID
    event_id: UUID
    """
    `event_id` of the event; the header `webhook-id`
    """
    type: str
    """
    Type of the event
    """
    state: Literal['pending', 'delivered', 'failed', 'held'] | str
    """
    `pending`: due, or waiting for its next attempt. `delivered`. `failed`: no attempt is left. `held`: the endpoint is disabled
    """
    attempts: list[WebhookAttempt]
    """
    Attempts in their order, the last 20
    """
    next_at: AwareDatetime | None = None
    """
    Time of the next attempt of a `pending` delivery
    """
    created_at: AwareDatetime


class TaskEvent(BaseModel):
    """
    Something that happened to a video task
    """

    event_id: UUID
    """
    Identifier of the event; the same whenever and however the event is delivered
    """
    timestamp: AwareDatetime
    """
    Time at which the event happened
    """
    sequence: conint(ge=1)
    """
    Number of the event in your log, in ascending order
    """
    type: (
        Literal[
            'task.running',
            'task.resolving',
            'task.succeeded',
            'task.stopped',
            'task.failed',
            'task.refunded',
        ]
        | str
    )
    """
    Type of the event. Later releases add types: ignore those you do not know
    """
    data: TaskEventData


class AlarmEvidence(BaseModel):
    """
    Why an alarm was raised
    """

    frame_id: str | None = None
    """
    Frame that raised the alarm, or the last one before it
    """
    frame_time_ms: int | None = None
    """
    Time of this frame
    """
    objects: list[TrackedObject]
    """
    Objects of this frame that the rule counts, highest score first, at most 10
    """
    count: int
    """
    Number of objects of this frame that the rule counts
    """
    held_ms: int
    """
    Milliseconds for which the condition had held, without gaps
    """
    direction: Literal['left_to_right', 'right_to_left'] | str | None = None
    """
    Direction of a crossing, as seen from the first point of the line
    """
    status: (
        Literal[
            'submitting',
            'resolving',
            'running',
            'stopping',
            'stopped',
            'succeeded',
            'failed',
            'refunded',
        ]
        | str
        | None
    ) = None
    """
    Final status of the task; present for `task_ended`
    """
    region: list[list[float]] | None = None
    """
    Region of the rule as it was; absent for a rule without one
    """
    line: list[list[float]] | None = None
    """
    Line of the rule as it was; present for `line_crossed`
    """


class SceneList(BaseModel):
    scenes: list[Scene]


class BacktestAlarm(BaseModel):
    """
    Alarm that a rule would have raised
    """

    alarm_id: str
    """
    Identifier; the same rule raises the same alarms again
    """
    state: Literal['open', 'closed'] | str
    """
    State at `judged_to_ms`
    """
    kind: (
        Literal[
            'object_present',
            'object_absent',
            'line_crossed',
            'source_down',
            'task_ended',
        ]
        | str
    )
    opened_ms: int
    """
    `frame_time_ms` at which the alarm opened
    """
    closed_ms: int | None = None
    """
    `frame_time_ms` at which it closed; absent while open
    """
    suppressed: int
    """
    Episodes since the alarm before that `min_interval_ms` held back, and those beyond what a minute of the task may raise: 60 alarms of crossings, 300 of other conditions on objects
    """
    evidence: AlarmEvidence
    labels: list[str]
    """
    Labels of the objects during the alarm
    """
    count_max: int
    """
    Largest number of objects in one frame during the alarm
    """
    track_ids: list[str]
    """
    Tracks of the objects during the alarm, at most 20
    """
    closed_by: Literal['cleared', 'gap', 'schedule', 'task_end'] | str | None = None
    """
    `cleared`: the condition no longer holds. `gap`: no frame followed for 60 s. `schedule`: the schedule ended. `task_end`: the task ended. Absent while open
    """


class NewAlarmBacktest(BaseModel):
    model_config = ConfigDict(
        extra='forbid',
    )
    task_id: UUID
    """
    Video task whose frames are judged
    """
    from_ms: int
    """
    Earliest `frame_time_ms`, inclusive
    """
    to_ms: int
    """
    Latest `frame_time_ms`, exclusive; at most 6 hours after `from_ms`
    """
    when: ObjectPresent | ObjectAbsent | LineCrossed | SourceDown | TaskEnded = Field(
        ..., discriminator='kind'
    )
    schedule: RuleSchedule | None = None
    min_interval_ms: conint(ge=0, le=86400000) | None = 60000
    """
    Least time between the openings of two alarms, in milliseconds. A condition that still holds when it has passed raises its alarm then; others count as `suppressed`. Crossings raise 60 alarms a minute of a task at most, other conditions on objects 300, by the times of its frames and over all rules; those beyond count as `suppressed` too
    """


class AlarmRuleList(BaseModel):
    items: list[AlarmRule]


class Alarm(BaseModel):
    """
    Alarm that a rule raised
    """

    alarm_id: UUID
    """
    Identifier of the alarm
    """
    version: int
    """
    1 when the alarm opened, greater with every change of it
    """
    rule_id: str
    """
    Rule that raised the alarm
    """
    rule_version: int
    """
    Version of the rule that raised it
    """
    task_id: UUID
    client_ref: constr(pattern=r'^[A-Za-z0-9._:-]{1,64}$') | None = None
    """
    `client_ref` of the task; absent without one
    """
    scene_code: str | None = None
    """
    Scene of the task
    """
    state: Literal['open', 'closed'] | str
    """
    `open` while the condition of the rule holds
    """
    kind: (
        Literal[
            'object_present',
            'object_absent',
            'line_crossed',
            'source_down',
            'task_ended',
        ]
        | str
    )
    opened_ms: int
    """
    `frame_time_ms` at which the alarm opened
    """
    closed_ms: int | None = None
    """
    `frame_time_ms` at which it closed; absent while open
    """
    suppressed: int
    """
    Episodes since the alarm before that `min_interval_ms` held back, and those beyond what a minute of the task may raise: 60 alarms of crossings, 300 of other conditions on objects
    """
    evidence: AlarmEvidence
    labels: list[str]
    """
    Labels of the objects during the alarm
    """
    count_max: int
    """
    Largest number of objects in one frame during the alarm
    """
    track_ids: list[str]
    """
    Tracks of the objects during the alarm, at most 20
    """
    closed_by: (
        Literal['cleared', 'gap', 'schedule', 'rule', 'task_end'] | str | None
    ) = None
    """
    `cleared`: the condition no longer holds. `gap`: no frame followed for 60 s. `schedule`: the schedule ended. `rule`: the rule was changed, disabled or deleted. `task_end`: the task ended. Absent while open
    """
    snapshot: Snapshot | None = None
    """
    Image of the object; absent in alarms of an earlier release
    """
    sequence: conint(ge=1) | None = None
    """
    Number of its opening in your log; absent in events, which have their own
    """
    created_at: AwareDatetime
    """
    Time at which the alarm was raised
    """
    updated_at: AwareDatetime
    """
    Time of its last change
    """
    review: Review | None = None
    """
    Your verdict; absent in events
    """


class StoredImageDetection(BaseModel):
    """
    Stored outcome of an image call
    """

    task_id: UUID
    """
    Identifier of the call in the task history
    """
    request_id: str
    """
    Idempotency-Key of the call, as it was first sent
    """
    status: Literal['succeeded'] | str
    """
    Status of the call; each image has its own in `results`
    """
    results: list[
        Annotated[SucceededImage | FailedImage, Field(discriminator='status')]
    ]
    """
    One entry per image, in upload order
    """
    scene_code: str
    created_at: AwareDatetime
    result_expires_at: AwareDatetime
    """
    Time at which the detections are deleted
    """


class ResultPage(BaseModel):
    items: list[ResultFrame]
    next_cursor: str
    """
    Cursor of the next page; empty if no further frame is stored yet
    """
    resume_cursor: str
    """
    Cursor that continues after this page, including frames not stored yet. Empty when nothing more is to come: the task has ended and all frames were delivered, or it ended 15 minutes ago. Stop then; an empty cursor starts from the first frame
    """


class WebhookDeliveryPage(BaseModel):
    items: list[WebhookDelivery]
    next_cursor: str
    """
    Cursor of the next page; empty on the last page
    """


class AlarmModel(BaseModel):
    """
    The alarm as it was when the event happened
    """

    alarm_id: UUID
    """
    Identifier of the alarm
    """
    version: int
    """
    1 when the alarm opened, greater with every change of it
    """
    rule_id: str
    """
    Rule that raised the alarm
    """
    rule_version: int
    """
    Version of the rule that raised it
    """
    task_id: UUID
    client_ref: constr(pattern=r'^[A-Za-z0-9._:-]{1,64}$') | None = None
    """
    `client_ref` of the task; absent without one
    """
    scene_code: str | None = None
    """
    Scene of the task
    """
    state: Literal['open', 'closed'] | str
    """
    `open` while the condition of the rule holds
    """
    kind: (
        Literal[
            'object_present',
            'object_absent',
            'line_crossed',
            'source_down',
            'task_ended',
        ]
        | str
    )
    opened_ms: int
    """
    `frame_time_ms` at which the alarm opened
    """
    closed_ms: int | None = None
    """
    `frame_time_ms` at which it closed; absent while open
    """
    suppressed: int
    """
    Episodes since the alarm before that `min_interval_ms` held back, and those beyond what a minute of the task may raise: 60 alarms of crossings, 300 of other conditions on objects
    """
    evidence: AlarmEvidence
    labels: list[str]
    """
    Labels of the objects during the alarm
    """
    count_max: int
    """
    Largest number of objects in one frame during the alarm
    """
    track_ids: list[str]
    """
    Tracks of the objects during the alarm, at most 20
    """
    closed_by: (
        Literal['cleared', 'gap', 'schedule', 'rule', 'task_end'] | str | None
    ) = None
    """
    `cleared`: the condition no longer holds. `gap`: no frame followed for 60 s. `schedule`: the schedule ended. `rule`: the rule was changed, disabled or deleted. `task_end`: the task ended. Absent while open
    """
    snapshot: Snapshot | None = None
    """
    Image of the object; absent in alarms of an earlier release
    """
    sequence: conint(ge=1) | None = None
    """
    Number of its opening in your log; absent in events, which have their own
    """
    created_at: AwareDatetime
    """
    Time at which the alarm was raised
    """
    updated_at: AwareDatetime
    """
    Time of its last change
    """
    review: Review | None = None
    """
    Your verdict; absent in events
    """


class AlarmEventData(BaseModel):
    """
    Data of events about an alarm
    """

    alarm: AlarmModel
    """
    The alarm as it was when the event happened
    """


class AlarmBacktest(BaseModel):
    """
    Alarms that a rule would have raised
    """

    alarms: list[BacktestAlarm]
    """
    Alarms in the order of their openings, at most 500
    """
    suppressed: int
    """
    Number of episodes that raised no alarm because of `min_interval_ms`
    """
    frames_read: int
    """
    Number of frames that were judged
    """
    coverage: float
    """
    Share of the seconds of the task up to `judged_to_ms` that frames cover, 0 to 1
    """
    judged_to_ms: int
    """
    Time up to which frames were judged, exclusive. It is earlier than `to_ms` when the backtest reached 10 s or 500 alarms, and when later frames are not stored yet; continue from there. It is the end of a stream that ended before `to_ms`
    """


class AlarmPage(BaseModel):
    items: list[Alarm]
    next_cursor: str
    """
    Cursor of the next page; empty on the last page
    """
    resume_cursor: str
    """
    Cursor of alarms that open later. Send it without `order`
    """


class ImageDetection(BaseModel):
    """
    Outcome of an image call
    """

    task_id: UUID
    """
    Identifier of the call in the task history
    """
    request_id: str
    """
    Idempotency-Key of the call, as it was first sent
    """
    status: Literal['succeeded'] | str
    """
    Status of the call; each image has its own in `results`
    """
    results: list[
        Annotated[SucceededImage | FailedImage, Field(discriminator='status')]
    ]
    """
    One entry per image, in upload order
    """
    replayed: Literal[True] | None = None
    """
    Present only on an idempotent replay
    """


class AlarmEvent(BaseModel):
    """
    An alarm opened, changed or closed
    """

    event_id: UUID
    """
    Identifier of the event; the same whenever and however the event is delivered
    """
    timestamp: AwareDatetime
    """
    Time at which the event happened
    """
    sequence: conint(ge=1)
    """
    Number of the event in your log, in ascending order
    """
    type: Literal['alarm.opened', 'alarm.updated', 'alarm.closed'] | str
    """
    Type of the event. Later releases add types: ignore those you do not know
    """
    data: AlarmEventData


class EventPage(BaseModel):
    items: list[TaskEvent | AlarmEvent | WebhookEndpointEvent | MissedEvents]
    next_cursor: str
    """
    Cursor of the next page; empty on the last page
    """
    resume_cursor: str
    """
    Cursor of everything that follows: events after this page, and with `order=newest` events that are logged after the first page. Send it without `order`, or to the stream of events
    """
