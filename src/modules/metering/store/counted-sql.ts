/** Text that is a number of the size that core/decimal reads; numbers of JSON are always numbers. */
const DECIMAL = '^-?(0|[1-9][0-9]{0,19})([.][0-9]{1,18})?$';

/** The text of a property, null where it is missing, a list or an object. */
const textOf = (property: string): string => `
  CASE WHEN jsonb_typeof(event.properties -> ${property}) IN ('string', 'number', 'boolean')
    THEN event.properties ->> ${property} END`;

/**
 * What a meter reads of an event, in SQL: the one place that says which events count, and as what. To be put behind a
 * FROM that has `event` (with `properties`) and `meter` (its row); gives `read.value`, the exact number of `sum`, `max`,
 * `latest` and `weighted_sum`, and `read.text`, what `unique` tells apart. Each is null where there is none.
 */
export const METER_READS = `
  CROSS JOIN LATERAL (SELECT
    CASE WHEN meter.aggregation NOT IN ('count', 'unique') THEN
      CASE jsonb_typeof(event.properties -> meter.value_property)
        WHEN 'number' THEN (event.properties -> meter.value_property)::numeric
        WHEN 'string' THEN
          CASE WHEN event.properties ->> meter.value_property ~ '${DECIMAL}'
            THEN (event.properties ->> meter.value_property)::numeric END
      END
    END AS value,
    CASE WHEN meter.aggregation = 'unique' THEN ${textOf('meter.value_property')} END AS text
  ) AS read`;

const HAS_WHAT_IS_READ = `(aggregation = 'count' OR value IS NOT NULL OR text IS NOT NULL)`;

const FITS_FILTERS = `
  (meter.filters = '[]' OR NOT EXISTS (
    SELECT FROM jsonb_array_elements(meter.filters) AS filter
    WHERE NOT coalesce(filter -> 'in' ? (${textOf("(filter ->> 'property')")}), false)
  ))`;

/** Condition: the event fits the filters of the meter and has what its aggregation reads. */
export const IS_COUNTED = `${HAS_WHAT_IS_READ} AND ${FITS_FILTERS}`;

/** A text in a group that takes more bytes than this as JSON is told by its SHA-256, so that each group has its key. */
const LONGEST_GROUP_TEXT_BYTES = 190;

/** As many properties as a meter may group by. */
const MOST_GROUPED = 5;

const unlessTooLong = (json: string, property: string): string => `
  CASE WHEN octet_length(${json}) <= ${LONGEST_GROUP_TEXT_BYTES} THEN ${json}
    ELSE '"sha256:' || encode(sha256(convert_to(event.properties ->> ${property}, 'UTF8')), 'hex') || '"' END`;

/** The text of a property as JSON: a number and a boolean are their texts too. */
function groupedText(property: string): string {
  const json = `(event.properties -> ${property})::text`;
  const inQuotes = `'"' || ${json} || '"'`;
  return `
    CASE jsonb_typeof(event.properties -> ${property})
      WHEN 'string' THEN ${unlessTooLong(json, property)}
      WHEN 'number' THEN ${unlessTooLong(inQuotes, property)}
      WHEN 'boolean' THEN ${inQuotes}
      ELSE 'null'
    END`;
}

const fromPlace = (place: number): string => {
  if (place === MOST_GROUPED) return `']'`;
  const property = `(meter.group_by ->> ${place})`;
  return `CASE WHEN ${property} IS NULL THEN ']' ELSE ',' || ${groupedText(property)} || ${fromPlace(place + 1)} END`;
};

/**
 * The canonical JSON array of the texts of the properties in `meter.group_by`, null where the event lacks one. Spelled out
 * place by place: a subquery over the list would take as long as all the rest of counting.
 */
export const GROUP_KEY = `
  CASE WHEN meter.group_by ->> 0 IS NULL THEN '[]'
    ELSE '[' || ${groupedText('(meter.group_by ->> 0)')} || ${fromPlace(1)} END`;

/**
 * The events that count, as rows to be counted: stream_id, meter_id, aggregation, position, occurred_at, value, text and
 * group_key. Without pull-up (OFFSET 0), since the planner would have each of them computed wherever it is mentioned.
 * @param from what {@link METER_READS} is put behind
 */
export const countedOf = (from: string, condition = 'true'): string => `
  SELECT * FROM (
    SELECT event.stream_id, meter.id AS meter_id, meter.aggregation, event.position, event.occurred_at,
      read.value, read.text, ${GROUP_KEY} AS group_key
    FROM ${from} ${METER_READS}
    WHERE ${condition} AND ${FITS_FILTERS}
    OFFSET 0
  ) AS read
  WHERE ${HAS_WHAT_IS_READ}`;

/** The start of the UTC hour that holds an instant. */
export const hourOf = (instant: string): string =>
  `date_bin('1 hour', ${instant}, timestamptz 'epoch')`;

/** The first 16 bytes of the SHA-256 of a text. */
export const digestOf = (text: string): string =>
  `encode(substring(sha256(convert_to(${text}, 'UTF8')) FROM 1 FOR 16), 'hex')::uuid`;

/** Milliseconds since 1970. */
export const msOf = (instant: string): string => `(extract(epoch FROM ${instant}) * 1000)::bigint`;
