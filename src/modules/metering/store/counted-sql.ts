/** The text of a JSON value, null where it is missing, a list or an object. */
const textOf = (value: string): string =>
  `CASE WHEN jsonb_typeof(${value}) IN ('string', 'number', 'boolean') THEN ${value} #>> '{}' END`;

/** Text that is a number of the size that core/decimal reads; numbers of JSON are always numbers. */
const DECIMAL = '^-?(0|[1-9][0-9]{0,19})([.][0-9]{1,18})?$';

/**
 * What a meter reads of an event, in SQL: the one place that says which events count, and as what. To be put behind a
 * FROM that has `event` (with `properties`) and `meter` (its row); gives `read.value`, the exact number of `sum`, `max`,
 * `latest` and `weighted_sum`, and `read.text`, what `unique` tells apart. Each is null where there is none.
 */
export const METER_READS = `
  CROSS JOIN LATERAL (SELECT event.properties -> meter.value_property AS found) AS property
  CROSS JOIN LATERAL (SELECT
    CASE
      WHEN meter.aggregation IN ('count', 'unique') THEN NULL
      WHEN jsonb_typeof(property.found) = 'number' THEN property.found::numeric
      WHEN jsonb_typeof(property.found) = 'string'
        AND property.found #>> '{}' ~ '${DECIMAL}'
      THEN (property.found #>> '{}')::numeric
    END AS value,
    CASE WHEN meter.aggregation = 'unique' THEN ${textOf('property.found')} END AS text
  ) AS read`;

/** Condition: the event fits the filters of the meter and has what its aggregation reads. */
export const IS_COUNTED = `
  (meter.aggregation = 'count' OR read.value IS NOT NULL OR read.text IS NOT NULL)
  AND (meter.filters = '[]' OR NOT EXISTS (
    SELECT FROM jsonb_array_elements(meter.filters) AS filter
    WHERE NOT coalesce(filter -> 'in' ? (${textOf("(event.properties -> (filter ->> 'property'))")}), false)
  ))`;

/** A text in a group that takes more bytes than this as JSON is told by its SHA-256, so that each group has its key. */
const LONGEST_GROUP_TEXT_BYTES = 190;

/** As many properties as a meter may group by. */
const MOST_GROUPED = 5;

const jsonOf = (text: string): string => `
  CASE
    WHEN octet_length(to_json(${text})::text) <= ${LONGEST_GROUP_TEXT_BYTES} THEN to_json(${text})::text
    ELSE '"sha256:' || encode(sha256(convert_to(${text}, 'UTF8')), 'hex') || '"'
  END`;

const groupedText = (place: number): string => `
  CASE WHEN jsonb_array_length(meter.group_by) > ${place} THEN
    '${place === 0 ? '' : ','}' || coalesce(${jsonOf(textOf(`(event.properties -> (meter.group_by ->> ${place}))`))}, 'null')
  END`;

/**
 * The canonical JSON array of the texts of the properties in `meter.group_by`, null where the event lacks one. Spelled out
 * place by place: a subquery over the list would take as long as all the rest of counting.
 */
export const GROUP_KEY = `
  CASE WHEN meter.group_by = '[]' THEN '[]' ELSE
    concat('[', ${Array.from({ length: MOST_GROUPED }, (_, place) => groupedText(place)).join(', ')}, ']')
  END`;

/** The start of the UTC hour that holds an instant. */
export const hourOf = (instant: string): string =>
  `date_bin('1 hour', ${instant}, timestamptz 'epoch')`;

/** The first 16 bytes of the SHA-256 of a text. */
export const digestOf = (text: string): string =>
  `encode(substring(sha256(convert_to(${text}, 'UTF8')) FROM 1 FOR 16), 'hex')::uuid`;

/** Milliseconds since 1970. */
export const msOf = (instant: string): string => `(extract(epoch FROM ${instant}) * 1000)::bigint`;
