"""The parent's tools inside any agent: an MCP server for one run, which its child reaches over http or a bridge.

Owns serving and running them. What a tool is stands in the room `tools`. Only this room imports the `mcp` SDK.
"""
