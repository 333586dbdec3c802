/** Regular expression of texts that count as numbers, as in `parseDecimal`. JSON numbers always count. */
const DECIMAL = '^-?(0|[1-9][0-9]{0,19})([.][0-9]{1,18})?$';

/** SQL of the text of a property; null if it is missing, a list or an object. */
const textOf = (property: string): string => `
  CASE WHEN jsonb_typeof(event.properties -> ${property}) IN ('string', 'number', 'boolean')
    THEN event.properties ->> ${property} END`;

/**
 * SQL that reads the value of an event for a meter, appended to a FROM clause with the rows `event` and `meter`.
 * `read.value` is the exact number for `sum`, `max`, `latest` and `weighted_sum`, otherwise null. `read.text` is the
 * text for `unique`, otherwise null. Both are null if the event lacks the value. Only this file defines which events
 * count, and with which value.
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

const HAS_VALUE = `(aggregation = 'count' OR value IS NOT NULL OR text IS NOT NULL)`;

const PASSES_FILTERS = `
  (meter.filters = '[]' OR NOT EXISTS (
    SELECT FROM jsonb_array_elements(meter.filters) AS filter
    WHERE NOT coalesce(filter -> 'in' ? (${textOf("(filter ->> 'property')")}), false)
  ))`;

/** SQL condition: the event passes the filters of the meter and has the value that its aggregation reads. */
export const IS_COUNTED = `${HAS_VALUE} AND ${PASSES_FILTERS}`;

/** Maximum size of one text in a group key. A longer text is replaced by its SHA-256, so that the key fits. */
const LONGEST_GROUP_TEXT_BYTES = 190;

/** Maximum number of properties that a meter groups by. */
const MAX_GROUPED = 5;

/**
 * SQL of the text of a property as a JSON string; `null` if the property is missing, a list or an object. A long text
 * becomes `sha256:` and its digest. A short text that equals such a digest form falls into the same group (decision
 * 231).
 */
function groupedText(property: string): string {
  const json = `to_jsonb(event.properties ->> ${property})::text`;
  return `
    CASE WHEN jsonb_typeof(event.properties -> ${property}) IN ('string', 'number', 'boolean') THEN
      CASE WHEN octet_length(${json}) <= ${LONGEST_GROUP_TEXT_BYTES} THEN ${json}
        ELSE '"sha256:' || encode(sha256(convert_to(event.properties ->> ${property}, 'UTF8')), 'hex') || '"' END
    ELSE 'null' END`;
}

const fromPlace = (place: number): string => {
  if (place === MAX_GROUPED) return `']'`;
  const property = `(meter.group_by ->> ${place})`;
  return `CASE WHEN ${property} IS NULL THEN ']' ELSE ',' || ${groupedText(property)} || ${fromPlace(place + 1)} END`;
};

/**
 * SQL of the group key of an event: a JSON array of the texts of the properties in `meter.group_by`. A missing property
 * is null. Repeats the same SQL for each property, because a subquery would double the time of a count.
 */
export const GROUP_KEY = `
  CASE WHEN meter.group_by ->> 0 IS NULL THEN '[]'
    ELSE '[' || ${groupedText('(meter.group_by ->> 0)')} || ${fromPlace(1)} END`;

/**
 * Like {@link GROUP_KEY}, but only for meters that group by this number of properties. The SQL is shorter, so
 * PostgreSQL plans it faster.
 */
export function groupKeyOf(properties: number): string {
  const texts = Array.from({ length: properties }, (_, place) =>
    groupedText(`(meter.group_by ->> ${place})`),
  );
  return texts.length === 0 ? `'[]'` : `'[' || ${texts.join(` || ',' || `)} || ']'`;
}

/**
 * Returns SQL that selects the events that count, with the columns stream_id, meter_id, aggregation, position,
 * occurred_at, value, text and group_key. Without OFFSET 0, PostgreSQL would compute a column again at each mention.
 * @param from FROM items before {@link METER_READS}
 */
export const countedOf = (from: string, condition = 'true'): string => `
  SELECT * FROM (
    SELECT event.stream_id, meter.id AS meter_id, meter.aggregation, event.position, event.occurred_at,
      read.value, read.text, ${GROUP_KEY} AS group_key
    FROM ${from} ${METER_READS}
    WHERE ${condition} AND ${PASSES_FILTERS}
    OFFSET 0
  ) AS read
  WHERE ${HAS_VALUE}`;

/** SQL of the start of the UTC hour that contains an instant. */
export const hourOf = (instant: string): string =>
  `date_bin('1 hour', ${instant}, timestamptz 'epoch')`;

/** SQL of the first 16 bytes of the SHA-256 of a text. */
export const digestOf = (text: string): string =>
  `encode(substring(sha256(convert_to(${text}, 'UTF8')) FROM 1 FOR 16), 'hex')::uuid`;

/** SQL of an instant in milliseconds since 1970. */
export const msOf = (instant: string): string => `(extract(epoch FROM ${instant}) * 1000)::bigint`;
