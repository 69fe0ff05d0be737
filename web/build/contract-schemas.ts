/** JSON Schemas of the contract's messages in protobuf's JSON, with the comments of the contract. */
import { type DescField, type DescMessage, ScalarType } from "@bufbuild/protobuf";
import type { oas31 } from "zod-openapi";
import { file_locations_v1_locations } from "../../gen/locations/v1/locations_pb.ts";

type SchemaObject = oas31.SchemaObject;

/** Makes the schemas, by name of the message, with the comments of `source`, the contract's text. */
export function contractSchemas(source: string): { readonly [name: string]: SchemaObject } {
  return Object.fromEntries(
    file_locations_v1_locations.messages.map((message) => [
      message.name,
      messageSchema(message, source),
    ]),
  );
}

function messageSchema(message: DescMessage, source: string): SchemaObject {
  const [, own = ""] =
    new RegExp(`^message ${message.name} \\{\\n(.*?)^\\}`, "ms").exec(source) ?? [];
  const described = message.fields.map((field) => ({
    field,
    description: commentBefore(own, new RegExp(`^ .*\\b${field.name} = ${field.number};`, "m")),
  }));
  return {
    type: "object",
    description: commentBefore(source, new RegExp(`^message ${message.name} `, "m")),
    properties: Object.fromEntries(
      described.map(({ field, description }) => [
        field.jsonName,
        { ...fieldSchema(field), description },
      ]),
    ),
    required: described
      .filter(({ field, description }) => isAlwaysThere(field, description))
      .map(({ field }) => field.jsonName),
  };
}

/** Whether it never has its default, which protobuf's JSON leaves out. */
function isAlwaysThere({ parent, scalar }: DescField, description: string): boolean {
  const mayBeDefault = scalar === ScalarType.DOUBLE || /\bempty where\b/.test(description);
  return parent.name !== "LocationsRequest" && !mayBeDefault;
}

function fieldSchema(field: DescField): SchemaObject {
  if (field.fieldKind === "message") return { $ref: refTo(field.message) };
  if (field.fieldKind === "list") {
    const items =
      field.listKind === "message" ? { $ref: refTo(field.message) } : ({ type: "string" } as const);
    return { type: "array", items };
  }
  const schema = field.fieldKind === "scalar" ? SCALARS.get(field.scalar) : undefined;
  if (schema === undefined) throw new Error(`${field.name} has a type without a schema`);
  return schema;
}

const SCALARS = new Map<ScalarType, SchemaObject>([
  [ScalarType.STRING, { type: "string" }],
  [ScalarType.DOUBLE, { type: "number", format: "double", default: 0 }],
  [ScalarType.BYTES, { type: "string", contentEncoding: "base64" }],
]);

function refTo({ name }: DescMessage): string {
  return `#/components/schemas/${name}`;
}

/** The comment before the match. */
function commentBefore(source: string, what: RegExp): string {
  const lines = source
    .slice(0, what.exec(source)?.index ?? 0)
    .trimEnd()
    .split("\n");
  const first = lines.findLastIndex((line) => !line.trim().startsWith("//")) + 1;
  return lines
    .slice(first)
    .map((line) => line.trim().slice("// ".length))
    .join(" ");
}
